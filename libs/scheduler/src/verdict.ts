import { type Cause, type Cleanup, maxMessageLength, type Outcome } from '@osworld-e2b/contracts'

/** Collects what happened to one attempt; the first cause wins and later ones are kept beside it. */
export class Verdict {
  readonly #causes: Cause[] = []
  #reward: number | undefined

  fail(cause: Cause): void {
    this.#causes.push({ ...cause, message: cause.message.slice(0, maxMessageLength) })
  }

  score(reward: number): void {
    if (this.#causes.length === 0) this.#reward = reward
  }

  get isDecided(): boolean {
    return this.#reward !== undefined || this.#causes.length > 0
  }

  /** A reward counts only when its sandbox is known to be gone; without reward and cause the runner simply ended. */
  outcome(cleanup: Cleanup, exit: string): Outcome {
    if (cleanup === 'failed') {
      const cause: Cause = { reason: 'cleanup_failed', message: 'The sandbox could not be shown to be gone.' }
      this.#causes.push(cause)
    }
    const [first, ...later] = this.#causes
    if (first !== undefined) return { kind: 'invalid', ...first, ...(later.length === 0 ? {} : { later }) }
    if (this.#reward !== undefined) return { kind: 'valid', reward: this.#reward }
    return { kind: 'invalid', reason: 'runner_exit', message: `The attempt process ended without a result (${exit}).` }
  }
}
