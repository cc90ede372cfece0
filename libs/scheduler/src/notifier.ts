/** Lets one loop wait for whatever comes next of many things. */
export class Notifier {
  readonly #signals: readonly AbortSignal[]
  readonly #listener = () => this.notify()
  #waiting: (() => void)[] = []

  /** The signals' aborts notify too. */
  constructor(signals: readonly AbortSignal[]) {
    this.#signals = signals
    for (const signal of signals) signal.addEventListener('abort', this.#listener)
  }

  /** Resolves at the next call of `notify`. */
  next(): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting.push(resolve)
    })
  }

  notify(): void {
    for (const resolve of this.#waiting.splice(0)) resolve()
  }

  dispose(): void {
    for (const signal of this.#signals) signal.removeEventListener('abort', this.#listener)
  }
}
