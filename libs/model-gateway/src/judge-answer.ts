import type { ModelApi } from '@osworld-e2b/contracts'
import { errorOf, errorWord, isRecord } from './wire.ts'

/** What an answer's status says: it is passed on, as an answer or as the agent's own fault, or the endpoint failed, for now or for good. */
export type Verdict = 'answered' | 'rejected' | 'try_again' | 'for_good'

const passing = new Set([408, 409, 425, 429])
/** The operator's: key, bill, address or model name is wrong. */
const operators = new Set([401, 402, 403, 404])
/** Said of a path that an endpoint lacks, which is the agent's choice when it is none of the three model APIs. */
const missingPath = new Set([403, 404, 405, 501])

/** Told with 400 by some services, though the agent can do nothing about it: a key or a bill. */
const operatorsWords = new Set(['invalid_api_key', 'model_not_found', 'billing_hard_limit_reached', 'billing_not_active', 'account_deactivated'])
const operatorsSentences = /credit balance is too low|api key not valid/i

/** What streams is judged by its events. */
export const streamed = Symbol('streamed')

/** `body` is the parsed JSON, undefined where it is none, or `streamed`. */
export function judgeAnswer(status: number, api: ModelApi, body: unknown): Verdict {
  if (status >= 200 && status < 300) return api === 'other' || isAnswer(body) ? 'answered' : 'try_again'
  if (api === 'other' && missingPath.has(status)) return 'rejected'
  if (operators.has(status) || status < 400) return 'for_good'
  // Sent with 429, though no waiting helps.
  if (errorWord(body) === 'insufficient_quota') return 'for_good'
  if (passing.has(status) || status >= 500) return 'try_again'
  return isOperators(body) ? 'for_good' : 'rejected'
}

/** No model wrote an empty body, a page or an error, whatever their status; what it did write may be as odd as it likes. */
function isAnswer(body: unknown): boolean {
  if (body === streamed) return true
  if (!isRecord(body) || body['status'] === 'failed') return false
  const choices: unknown[] = Array.isArray(body['choices']) ? body['choices'] : []
  return ![body, ...choices].some((part) => errorOf(part) !== undefined)
}

function isOperators(body: unknown): boolean {
  const message = errorOf(body)?.['message']
  return operatorsWords.has(errorWord(body) ?? '') || (typeof message === 'string' && operatorsSentences.test(message))
}

/** Whether a probe's status shows that an endpoint may be asked again after it failed with `cause`, null for a network fault. */
export function isRevived(status: number, cause: number | null): boolean {
  if (status >= 500 || (status >= 400 && status === cause)) return false
  if (status === 404 || status === 405) return cause !== 404
  return status < 300 || (status >= 400 && judgeAnswer(status, 'openai_chat', undefined) === 'rejected')
}

/** "status 429 (rate_limit_exceeded)", without the endpoint's own sentences, which may hold addresses. */
export function describeStatus(status: number, body: unknown): string {
  const word = errorWord(body) ?? (status < 300 ? 'without an answer' : undefined)
  return `status ${status}${word === undefined ? '' : ` (${word})`}`
}
