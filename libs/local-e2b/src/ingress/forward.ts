import { request as httpRequest, type ClientRequest, type IncomingMessage, type RequestOptions, type ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { pipeline } from 'node:stream'
import { dialPort } from '../agent-client/index.ts'
import { LocalE2bError } from '../error.ts'
import type { Sandbox } from '../sandboxes/sandbox.ts'
import { clientHeaders, guestHeaders, maskedHost } from './headers.ts'
import { portClosed, refusalPayload, sandboxNotFound, type Refusal } from './refusal.ts'
import { agentPort } from './target.ts'

export interface Destination {
  readonly sandbox: Sandbox
  readonly port: number
}

/** Passes one request to the agent or to a guest port and streams the answer back; cut when the sandbox ends or either side goes. */
export async function forwardRequest(request: IncomingMessage, response: ServerResponse, destination: Destination): Promise<void> {
  const { sandbox, port } = destination
  const leave = sandbox.exchanges.add(() => request.socket.destroy())
  response.once('close', leave)
  const connection = await connectionTo(destination)
  if (isRefusal(connection)) {
    sendRefusal(response, connection)
    return
  }
  if (response.destroyed) {
    // The client left, or the sandbox was cut, while the guest was dialled.
    connection.drop()
    return
  }
  const upstream = httpRequest({
    ...connection.options,
    method: request.method ?? 'GET',
    path: request.url ?? '/',
    setHost: false,
    headers: guestHeaders(request.rawHeaders, { maskedHost: maskFor(destination), keepsUpgrade: false }),
  })
  relay(request, response, { upstream, whenUnanswered: port === agentPort ? sandboxNotFound(sandbox.id) : portClosed(sandbox.id, port) })
}

export function sendRefusal(response: ServerResponse, refusal: Refusal): void {
  const { contentType, text } = refusalPayload(refusal)
  response.writeHead(refusal.status, { 'Content-Type': contentType, 'Content-Length': Buffer.byteLength(text) })
  response.end(text)
}

/** A connection into the guest for a port, or what to answer when there is none. */
export async function dialGuest({ sandbox, port }: Destination): Promise<Socket | Refusal> {
  try {
    return await dialPort(sandbox.running.agentSocket, port)
  } catch (error) {
    if (error instanceof LocalE2bError && error.code === 'port_closed') return portClosed(sandbox.id, port)
    if (error instanceof LocalE2bError && error.code === 'agent_unreachable') return sandboxNotFound(sandbox.id)
    throw error
  }
}

export function isRefusal(value: object): value is Refusal {
  return 'status' in value && 'body' in value
}

export function maskFor({ sandbox, port }: Destination): string | undefined {
  return port === agentPort ? undefined : maskedHost(sandbox.network.maskRequestHost, port)
}

interface Connection {
  readonly options: RequestOptions
  readonly drop: () => void
}

async function connectionTo(destination: Destination): Promise<Connection | Refusal> {
  if (destination.port === agentPort) return { options: { socketPath: destination.sandbox.running.agentSocket, agent: false }, drop: () => undefined }
  const socket = await dialGuest(destination)
  return isRefusal(socket) ? socket : { options: { createConnection: () => socket }, drop: () => socket.destroy() }
}

function relay(request: IncomingMessage, response: ServerResponse, { upstream, whenUnanswered }: { readonly upstream: ClientRequest; readonly whenUnanswered: Refusal }): void {
  upstream.on('response', (answer) => {
    response.sendDate = false
    response.writeHead(answer.statusCode ?? 502, answer.statusMessage, clientHeaders(answer.rawHeaders))
    // A stream may be silent for long; its headers must not wait for the first byte.
    response.flushHeaders()
    pipeline(answer, response, (error) => {
      if (error) response.destroy()
    })
  })
  upstream.on('error', () => {
    if (response.headersSent || response.destroyed) response.destroy()
    else sendRefusal(response, whenUnanswered)
  })
  response.once('close', () => upstream.destroy())
  pipeline(request, upstream, () => {
    // Both ends report for themselves: the client by 'close', the guest by 'error'.
  })
}
