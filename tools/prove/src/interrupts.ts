import type { EventEmitter } from 'node:events'

const names = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
export type StopSignal = (typeof names)[number]

export interface Interrupts {
  /** Aborts at the first signal. */
  readonly signal: AbortSignal
  /** Hands every signal on to a child until the returned function is called. */
  forwardTo(deliver: (name: StopSignal) => void): () => void
  dispose(): void
}

/** Listens on `source`, the process; a child in a group of its own learns of a Ctrl-C only from here. */
export function listenForInterrupts(source: Pick<EventEmitter, 'on' | 'off'>): Interrupts {
  const controller = new AbortController()
  const deliveries = new Set<(name: StopSignal) => void>()
  const listen = (name: StopSignal) => {
    controller.abort()
    for (const deliver of deliveries) deliver(name)
  }
  for (const name of names) source.on(name, listen)
  return {
    signal: controller.signal,
    forwardTo: (deliver) => {
      deliveries.add(deliver)
      return () => void deliveries.delete(deliver)
    },
    dispose: () => {
      for (const name of names) source.off(name, listen)
    },
  }
}
