import { type Cause, type Cleanup, type InvalidReason, maxMessageLength, type Outcome } from '@osworld-e2b/contracts'

const mostLaterCauses = 10

/** How an attempt may end because its agent got no answer. */
const consequences: readonly InvalidReason[] = ['runner_exit', 'timeout', 'missing_result', 'malformed_result']

/** Collects what happened to one attempt. What is decided first stays: a reward as well as a cause of failure. */
export class Verdict {
  readonly #causes: Cause[] = []
  #reward: number | undefined

  /** Counts against the attempt unless it has its reward already; of later causes the first ten are kept beside it. */
  fail(cause: Cause): void {
    if (this.#reward !== undefined || this.#causes.length > mostLaterCauses) return
    this.#causes.push({ ...cause, message: cause.message.slice(0, maxMessageLength) })
  }

  score(reward: number): void {
    if (this.#causes.length === 0) this.#reward ??= reward
  }

  /** What became known only at the end, and explains what was seen before: it takes the place of a reward, and comes before its consequences. */
  overrule(cause: Cause): void {
    if (this.#causes.some(({ reason }) => reason === cause.reason)) return
    this.#reward = undefined
    const [first] = this.#causes
    if (first === undefined || consequences.includes(first.reason)) this.#causes.unshift(cause)
    else this.fail(cause)
  }

  /** A reward counts only when its sandbox is known to be gone; without reward and cause the runner simply ended. */
  outcome(end: { readonly cleanup: Cleanup; readonly cleanupProblem: string; readonly exit: string }): Outcome {
    const unclean: Cause[] = end.cleanup === 'failed' ? [{ reason: 'cleanup_failed', message: end.cleanupProblem.slice(0, maxMessageLength) }] : []
    const [first, ...later] = [...this.#causes, ...unclean]
    if (first !== undefined) return { kind: 'invalid', ...first, ...(later.length === 0 ? {} : { later }) }
    if (this.#reward !== undefined) return { kind: 'valid', reward: this.#reward }
    return { kind: 'invalid', reason: 'runner_exit', message: `The attempt process ended without a result (${end.exit}).` }
  }
}
