import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { dialGuest, isRefusal, maskFor, type Destination } from './forward.ts'
import { guestHeaders } from './headers.ts'
import { refusalPayload, type Refusal } from './refusal.ts'

export interface UpgradeRequest {
  readonly request: IncomingMessage
  readonly socket: Duplex
  /** Bytes that came right behind the request. */
  readonly head: Buffer
}

/** Passes a protocol change (WebSocket) to a guest port; from then on bytes flow as they come. */
export async function forwardUpgrade({ request, socket, head }: UpgradeRequest, destination: Destination): Promise<void> {
  const leave = destination.sandbox.exchanges.add(() => socket.destroy())
  socket.once('close', leave)
  const guest = await dialGuest(destination)
  if (isRefusal(guest)) {
    refuseUpgrade(socket, guest)
    return
  }
  if (socket.destroyed) {
    guest.destroy()
    return
  }
  guest.write(requestText(request, guestHeaders(request.rawHeaders, { maskedHost: maskFor(destination), keepsUpgrade: true })))
  if (head.length > 0) guest.write(head)
  join(socket, guest)
}

/** Answers a refused upgrade as plain HTTP and hangs up. */
export function refuseUpgrade(socket: Duplex, refusal: Refusal): void {
  const { contentType, text } = refusalPayload(refusal)
  const lines = [`HTTP/1.1 ${refusal.status} ${reasonPhrase(refusal.status)}`, `Content-Type: ${contentType}`, `Content-Length: ${Buffer.byteLength(text)}`, 'Connection: close', '', text]
  socket.on('error', () => socket.destroy())
  socket.end(lines.join('\r\n'))
}

/** Each side's end reaches the other; an error on one destroys both. */
function join(left: Duplex, right: Duplex): void {
  left.pipe(right)
  right.pipe(left)
  for (const [from, to] of [
    [left, right],
    [right, left],
  ] as const) {
    from.on('error', () => to.destroy())
    from.on('close', () => to.destroy())
  }
}

function requestText(request: IncomingMessage, headers: readonly string[]): string {
  const lines = [`${request.method ?? 'GET'} ${request.url ?? '/'} HTTP/1.1`]
  for (let index = 0; index + 1 < headers.length; index += 2) lines.push(`${headers[index] ?? ''}: ${headers[index + 1] ?? ''}`)
  return `${lines.join('\r\n')}\r\n\r\n`
}

function reasonPhrase(status: number): string {
  return { 400: 'Bad Request', 401: 'Unauthorized', 403: 'Forbidden' }[status] ?? 'Bad Gateway'
}
