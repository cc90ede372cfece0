import { ServerResponse, type IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { WebSocket, WebSocketServer, type RawData } from 'ws'
import { answerHeaders, handshakeHeaders } from './headers.ts'
import type { Lane } from './lane.ts'
import { maskToken } from './mask-token.ts'
import { answerAsRelay, sandboxGone, type RelayAnswer } from './relay-answer.ts'
import { describe, pathOf } from './retry.ts'
import type { TargetEndpoint } from './target.ts'

const handshakeTimeoutMs = 60_000
/** How long a client may take to answer the close frame of a sandbox that is gone. */
const closePatienceMs = 1_000
/** One CDP message may hold a whole recording or page; above this the connection is closed with code 1009. */
const maxMessageBytes = 256 * 1024 * 1024
/** Bytes waiting on one side above which the other side is paused. */
const pauseAboveBytes = 1024 * 1024

/** No compression: both hops are short, and a compressed frame could not be masked. Pings go from end to end. */
const socketOptions = { perMessageDeflate: false, maxPayload: maxMessageBytes, autoPong: false }

export interface Upgrade {
  readonly request: IncomingMessage
  readonly socket: Socket
  readonly head: Buffer
}

/** Forwards one WebSocket: the sandbox is asked first, so that its refusal or its subprotocol reaches the client. */
export function forwardWebSocket(lane: Lane, upgrade: Upgrade, endpoint: TargetEndpoint): void {
  const { request, socket } = upgrade
  const about = { port: lane.name, method: 'GET', path: pathOf(request) } as const
  const guest = connectToGuest(request, endpoint)
  let refused = false
  const release = lane.hold(() => {
    refuse(sandboxGone)
  })
  function refuse(answer: RelayAnswer): void {
    release()
    refused = true
    guest.terminate()
    answerUpgrade(upgrade, (response) => answerAsRelay(response, answer))
  }
  const onClientGone = (): void => {
    release()
    guest.terminate()
  }
  socket.once('close', onClientGone)
  socket.on('error', onClientGone)
  const onGuestError = (error: Error): void => {
    if (refused || socket.destroyed) return
    lane.report({ ...about, event: 'websocket_failed', message: describe(error) })
    refuse({ status: 502, reason: 'sandbox_unreachable', message: `The sandbox did not open the WebSocket (${describe(error)}).` })
  }
  guest.on('error', onGuestError)
  guest.once('unexpected-response', (_outgoing, answer) => {
    release()
    refused = true
    lane.report({ ...about, event: 'websocket_failed', status: answer.statusCode ?? 0, message: 'The handshake was refused.' })
    relayRefusal(upgrade, answer, endpoint.trafficToken.reveal())
  })
  guest.once('open', () => {
    release()
    socket.off('close', onClientGone)
    socket.off('error', onClientGone)
    guest.off('error', onGuestError)
    const client = acceptClient(upgrade, guest.protocol)
    if (client === undefined) guest.terminate()
    else bridge(lane, about, { client, guest, token: endpoint.trafficToken.reveal() })
  })
}

function connectToGuest(request: IncomingMessage, endpoint: TargetEndpoint): WebSocket {
  const url = `${endpoint.baseUrl.replace(/^http/, 'ws').replace(/\/$/, '')}${request.url ?? '/'}`
  const protocols = (request.headers['sec-websocket-protocol'] ?? '').split(',').map((name) => name.trim()).filter((name) => name !== '')
  return new WebSocket(url, protocols, {
    ...socketOptions,
    handshakeTimeout: handshakeTimeoutMs,
    headers: handshakeHeaders(request.headers, endpoint),
  })
}

/** Completes the client's handshake; undefined when it was malformed, which `ws` has then answered. */
function acceptClient({ request, socket, head }: Upgrade, protocol: string): WebSocket | undefined {
  const acceptor = new WebSocketServer({ noServer: true, clientTracking: false, handleProtocols: () => protocol || false, ...socketOptions })
  let accepted: WebSocket | undefined
  acceptor.handleUpgrade(request, socket, head, (client) => {
    accepted = client
  })
  return accepted
}

interface Pair {
  readonly client: WebSocket
  readonly guest: WebSocket
  readonly token: string
}

function bridge(lane: Lane, about: { readonly port: Lane['name']; readonly method: string; readonly path: string }, { client, guest, token }: Pair): void {
  const openedAt = performance.now()
  let by: 'client' | 'guest' | 'relay' | undefined
  const release = lane.hold(() => {
    by ??= 'relay'
    client.close(1001, 'the sandbox is gone')
    setTimeout(() => client.terminate(), closePatienceMs).unref()
    guest.terminate()
  })
  lane.report({ ...about, event: 'websocket_opened' })
  const needle = Buffer.from(token)
  pump(client, guest, (data) => data)
  pump(guest, client, (data) => maskToken(data, needle))
  const onClose = (side: 'client' | 'guest', other: WebSocket) => (code: number, reason: Buffer): void => {
    release()
    closeLike(other, code, reason)
    if (by === undefined || by === 'relay') {
      lane.report({ ...about, event: 'websocket_closed', code, by: by ?? side, seconds: (performance.now() - openedAt) / 1_000 })
      by = side
    }
  }
  client.once('close', onClose('client', guest))
  guest.once('close', onClose('guest', client))
}

function pump(from: WebSocket, to: WebSocket, transform: (data: Buffer) => Buffer): void {
  from.on('message', (data, isBinary) => {
    if (to.readyState !== WebSocket.OPEN) return
    to.send(transform(asBuffer(data)), { binary: isBinary }, () => {
      if (from.isPaused && to.bufferedAmount < pauseAboveBytes) from.resume()
    })
    if (to.bufferedAmount >= pauseAboveBytes) from.pause()
  })
  from.on('ping', (data) => {
    if (to.readyState === WebSocket.OPEN) to.ping(data)
  })
  from.on('pong', (data) => {
    if (to.readyState === WebSocket.OPEN) to.pong(data)
  })
  // A protocol error or a reset is followed by 'close', which says what there is to say.
  from.on('error', () => from.terminate())
}

function asBuffer(data: RawData): Buffer {
  if (Buffer.isBuffer(data)) return data
  return Array.isArray(data) ? Buffer.concat(data) : Buffer.from(data)
}

/** Closes with the other side's code; the codes that stand for "none given" and "broken off" cannot be sent. */
function closeLike(socket: WebSocket, code: number, reason: Buffer): void {
  if (socket.readyState === WebSocket.CLOSED) return
  // A paused socket would not see the answer to its close frame.
  socket.resume()
  if (code === 1006 || code === 1015) socket.terminate()
  else if (code === 1005) socket.close()
  else socket.close(code, reason)
}

function relayRefusal(upgrade: Upgrade, answer: IncomingMessage, token: string): void {
  answerUpgrade(upgrade, (response) => {
    response.sendDate = false
    response.writeHead(answer.statusCode ?? 502, answer.statusMessage, answerHeaders(answer.rawHeaders, token))
    answer.on('data', (chunk: Buffer) => response.write(maskToken(chunk, Buffer.from(token))))
    answer.once('end', () => response.end())
    answer.once('error', () => response.destroy())
  })
}

/** Answers an upgrade request by an ordinary response on its socket, and ends the connection after it. */
export function answerUpgrade({ request, socket }: Pick<Upgrade, 'request' | 'socket'>, answer: (response: ServerResponse) => void): void {
  if (socket.destroyed) return
  const response = new ServerResponse(request)
  response.shouldKeepAlive = false
  response.assignSocket(socket)
  response.once('finish', () => socket.destroySoon())
  answer(response)
}
