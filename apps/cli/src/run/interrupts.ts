export interface Interrupts {
  /** Aborts when the run is to end what runs. */
  readonly signal: AbortSignal
  /** Aborts when nothing more is to be started; what runs is finished. */
  readonly drain: AbortSignal
  /** From now on there is something to finish, so a first Ctrl-C may drain. */
  mayDrain(): void
  /** From now on it speaks so, such as above a live view. */
  speakBy(line: (text: string) => void): void
  dispose(): void
}

export interface InterruptHandlers {
  /** What a first Ctrl-C does. A hang-up and SIGTERM always stop. */
  readonly onInterrupt: 'drain' | 'cancel'
  /** What is said at a drain and at a stop. */
  readonly drainText: string
  readonly stopText: string
  line(text: string): void
  force(): void
}

/** A first signal drains or stops the run, which stays resumable; once it is stopping, another one forces. */
export function listenForInterrupts(handlers: InterruptHandlers): Interrupts {
  const stop = new AbortController()
  const drain = new AbortController()
  let hasStarted = false
  let line = (text: string) => handlers.line(text)
  const names = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
  const listen = (name: (typeof names)[number]) => {
    if (stop.signal.aborted) {
      handlers.force()
      return
    }
    if (name === 'SIGINT' && handlers.onInterrupt === 'drain' && hasStarted && !drain.signal.aborted) {
      line(`${name}: ${handlers.drainText}`)
      drain.abort()
      return
    }
    line(`${name}: ${handlers.stopText}`)
    stop.abort()
  }
  for (const name of names) process.on(name, listen)
  return {
    signal: stop.signal,
    drain: drain.signal,
    mayDrain: () => {
      hasStarted = true
    },
    speakBy: (other) => {
      line = other
    },
    dispose: () => {
      for (const name of names) process.off(name, listen)
    },
  }
}
