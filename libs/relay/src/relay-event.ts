export const portNames = ['server', 'cdp', 'vnc', 'vlc'] as const
export type PortName = (typeof portNames)[number]

interface About {
  readonly port: PortName
  readonly method: string
  /** Without the query, which may hold data of the task. */
  readonly path: string
}

/** What the relay tells about its traffic; never a body, a header or a token. */
export type RelayEvent =
  | (About & { readonly event: 'request_failed'; readonly tries: number; readonly message: string })
  | (About & { readonly event: 'request_refused'; readonly status: number })
  | (About & { readonly event: 'request_aborted'; readonly seconds: number })
  | (About & { readonly event: 'websocket_opened' })
  | (About & { readonly event: 'websocket_failed'; readonly status?: number; readonly message: string })
  | (About & {
      readonly event: 'websocket_closed'
      readonly code: number
      readonly by: 'client' | 'guest' | 'relay'
      readonly seconds: number
    })

export type ReportEvent = (event: RelayEvent) => void
