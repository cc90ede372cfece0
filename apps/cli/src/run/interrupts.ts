export interface Interrupts {
  /** Aborts at the first SIGINT, SIGTERM or SIGHUP. */
  readonly signal: AbortSignal
  dispose(): void
}

/** The first signal asks the run to stop and stays resumable; a second one calls `force`. */
export function listenForInterrupts(onFirst: (name: string) => void, force: () => void): Interrupts {
  const controller = new AbortController()
  const names = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
  const listen = (name: string) => {
    if (controller.signal.aborted) {
      force()
      return
    }
    onFirst(name)
    controller.abort()
  }
  for (const name of names) process.on(name, listen)
  return {
    signal: controller.signal,
    dispose: () => {
      for (const name of names) process.off(name, listen)
    },
  }
}
