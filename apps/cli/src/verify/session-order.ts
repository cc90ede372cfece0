import type { LedgerEvent, PauseReason } from '@osworld-e2b/contracts'

/** Whether events of a run stand where a coordinator writes them: each start of the run is opened by its own event. */
export class SessionOrder {
  #last: 'nothing' | 'running' | 'RUN_ENDED' | 'TAIL_CUT' = 'nothing'
  readonly #paused = new Set<PauseReason>()

  /** Whether the last event is the end of a start. */
  get isEnded(): boolean {
    return this.#last === 'RUN_ENDED'
  }

  /** Takes the next event; says in half a sentence what is wrong with its place. */
  take(event: LedgerEvent): string | undefined {
    switch (event.event) {
      case 'RUN_STARTED':
        this.#paused.clear()
        this.#last = 'running'
        return undefined
      case 'TAIL_CUT':
        this.#last = 'TAIL_CUT'
        return undefined
      default:
        return this.#inSession(event)
    }
  }

  #inSession(event: Exclude<LedgerEvent, { event: 'RUN_STARTED' | 'TAIL_CUT' }>): string | undefined {
    const before = this.#last
    if (event.event === 'RUN_ENDED') this.#last = 'RUN_ENDED'
    if (before !== 'running') return before === 'nothing' ? `${event.event} stands before any RUN_STARTED` : `${event.event} stands after ${before} without a RUN_STARTED between them`
    if (event.event === 'RUN_PAUSED') this.#paused.add(event.reason)
    if (event.event === 'RUN_CONTINUED' && !this.#paused.delete(event.reason)) return `RUN_CONTINUED names ${event.reason}, for which the run was not paused`
    return undefined
  }
}
