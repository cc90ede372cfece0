import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { PortName, ReportEvent } from './relay-event.ts'

/** One of the four forwarded ports: its listener, and what is under way on it. */
export interface Lane {
  readonly name: PortName
  readonly guestPort: number
  readonly report: ReportEvent
  /** `host:port` of the local listener. */
  address(): string
  /** Registers how to cut something that is under way; call the result once it has ended. */
  hold(cut: () => void): () => void
  /** Cuts all that is under way. */
  cutAll(): void
}

export interface LaneOptions {
  readonly name: PortName
  readonly guestPort: number
  readonly server: Server
  readonly report: ReportEvent
}

export function makeLane({ name, guestPort, server, report }: LaneOptions): Lane {
  const held = new Set<() => void>()
  return {
    name,
    guestPort,
    report,
    address: () => `127.0.0.1:${listeningPort(server)}`,
    hold(cut) {
      held.add(cut)
      return () => held.delete(cut)
    },
    cutAll() {
      const cuts = [...held]
      held.clear()
      for (const cut of cuts) cut()
    },
  }
}

/** Port that a listening server was given. */
export function listeningPort(server: Server): number {
  return (server.address() as AddressInfo).port
}
