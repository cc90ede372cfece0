export type Release = () => void

/** So many may go on at once; the others wait in the order of their coming. */
export class Permits {
  #free: number
  #waiting: (() => void)[] = []
  #evictions: (() => void)[] = []

  constructor(size: number) {
    this.#free = size
  }

  /** Undefined when the signal aborts first or all who wait are sent away. */
  async acquire(signal: AbortSignal): Promise<Release | undefined> {
    if (signal.aborted) return undefined
    if (this.#free > 0) this.#free -= 1
    else if (!(await this.#wait(signal))) return undefined
    let isHeld = true
    return () => {
      if (isHeld) this.#release()
      isHeld = false
    }
  }

  sendWaitingAway(): void {
    for (const evict of this.#evictions.splice(0)) evict()
  }

  #wait(signal: AbortSignal): Promise<boolean> {
    return new Promise((resolve) => {
      const settle = (isGranted: boolean): void => {
        signal.removeEventListener('abort', leave)
        this.#waiting = this.#waiting.filter((other) => other !== grant)
        this.#evictions = this.#evictions.filter((other) => other !== leave)
        resolve(isGranted)
      }
      const grant = (): void => settle(true)
      const leave = (): void => settle(false)
      signal.addEventListener('abort', leave)
      this.#waiting.push(grant)
      this.#evictions.push(leave)
    })
  }

  /** Hands the place to the one who waits longest, without freeing it in between. */
  #release(): void {
    const next = this.#waiting[0]
    if (next === undefined) this.#free += 1
    else next()
  }
}
