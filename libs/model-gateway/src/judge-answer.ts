import type { ModelApi } from '@osworld-e2b/contracts'
import { errorWord, isRecord } from './wire.ts'

/** What an answer's status says: it is passed on, as an answer or as the agent's own fault, or the endpoint failed, for now or for good. */
export type Verdict = 'answered' | 'rejected' | 'try_again' | 'for_good'

const passing = new Set([408, 409, 425, 429])
/** The operator's: key, bill, address or model name is wrong. */
const operators = new Set([401, 402, 403, 404])
/** Said of a path that an endpoint lacks, which is the agent's choice when it is none of the three model APIs. */
const missingPath = new Set([403, 404, 405, 501])

export function judgeAnswer(status: number, api: ModelApi, body: unknown): Verdict {
  if (status >= 200 && status < 300) return isFailedResponse(api, body) ? 'try_again' : 'answered'
  if (api === 'other' && missingPath.has(status)) return 'rejected'
  if (operators.has(status) || status < 400) return 'for_good'
  // Sent with 429, though no waiting helps.
  if (errorWord(body) === 'insufficient_quota') return 'for_good'
  if (passing.has(status) || status >= 500) return 'try_again'
  return 'rejected'
}

/** A response object can say that it failed although its status is 200. */
function isFailedResponse(api: ModelApi, body: unknown): boolean {
  return api === 'openai_responses' && isRecord(body) && body['status'] === 'failed'
}

/** Whether a probe's status shows that an endpoint may be asked again after it failed with `cause`, null for a network fault. */
export function isRevived(status: number, cause: number | null): boolean {
  if (status >= 500) return false
  if (status === 404 || status === 405) return cause !== 404
  return status < 300 || (status >= 400 && judgeAnswer(status, 'openai_chat', undefined) === 'rejected')
}

/** "status 429 (rate_limit_exceeded)", without the endpoint's own sentences, which may hold addresses. */
export function describeStatus(status: number, body: unknown): string {
  const word = errorWord(body)
  return `status ${status}${word === undefined ? '' : ` (${word})`}`
}
