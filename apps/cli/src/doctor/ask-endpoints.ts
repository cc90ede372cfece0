import type { Endpoint } from '@osworld-e2b/contracts'
import type { EndpointFact } from '@osworld-e2b/gates'
import { answerWithinMs, below, unasked } from './asking.ts'

type Answer = EndpointFact['answer']

/** Asks every endpoint for its list of models, all at once. Not every server has one, so that any answer but a refused key or a fault of its own will do. */
export async function askEndpoints(endpoints: readonly Endpoint[], environment: NodeJS.ProcessEnv): Promise<readonly EndpointFact[]> {
  return Promise.all(endpoints.map(async (endpoint) => ({ label: endpoint.label, answer: await askEndpoint(endpoint, environment) })))
}

async function askEndpoint({ label, api_key_variable: keyVariable }: Endpoint, environment: NodeJS.ProcessEnv): Promise<Answer> {
  const address = environment[label] ?? ''
  if (address === '') return { state: 'unset' }
  const key = keyVariable === undefined ? undefined : (environment[keyVariable] ?? '')
  if (key === '') return { state: 'key_unset' }
  try {
    return answerOf(await statusOf(address, key), key)
  } catch (error) {
    return unasked(error)
  }
}

/** As a client of OpenAI's API asks, and when that is refused or unknown, as one of Anthropic's does, which appends `/v1` itself. */
async function statusOf(address: string, key: string | undefined): Promise<number> {
  const first = await ask(below(address, '/models'), key === undefined ? {} : { Authorization: `Bearer ${key}` })
  if (!isRefused(first) && first !== notFound) return first
  const base = address.replace(/\/+$/, '').replace(/\/v1$/, '')
  const second = await ask(below(base, '/v1/models'), { 'anthropic-version': '2023-06-01', ...(key === undefined ? {} : { 'x-api-key': key }) })
  return second === notFound ? first : second
}

const notFound = 404

async function ask(url: string, headers: Readonly<Record<string, string>>): Promise<number> {
  // A redirect is not followed: it could carry the key to somebody else.
  const response = await fetch(url, { headers, redirect: 'manual', signal: AbortSignal.timeout(answerWithinMs) })
  await response.body?.cancel()
  return response.status
}

function answerOf(status: number, key: string | undefined): Answer {
  if (isRefused(status)) return { state: key === undefined ? 'key_wanted' : 'key_refused' }
  return status >= 500 ? { state: 'unknown', problem: `answers ${status}` } : { state: 'answers' }
}

function isRefused(status: number): boolean {
  return status === 401 || status === 403
}
