import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import type { Answer } from './answer.ts'
import type { ModelRequest } from './model-request.ts'
import type { FaultStep } from './script.ts'
import type { Wire } from './wire.ts'

export interface Delivery {
  readonly response: ServerResponse
  readonly wire: Wire
  readonly request: ModelRequest
}

/** Sends the answer; false when the client went away before it was whole. */
export async function sendAnswer(answer: Answer, { response, wire, request }: Delivery): Promise<boolean> {
  if (!request.isStreamed) return sendJson(response, 200, wire.whole(answer))
  startStream(response)
  for (const event of wire.events(answer, request)) response.write(`${event}\n\n`)
  response.end()
  return ended(response)
}

/** Shows the fault instead of an answer; resolves once the client saw it. */
export async function sendFault(fault: FaultStep, answer: Answer, delivery: Delivery): Promise<void> {
  const { response, wire } = delivery
  switch (fault.fault) {
    case 'status':
      if (fault.retry_after !== undefined) response.setHeader('retry-after', String(fault.retry_after))
      await sendJson(response, fault.status, wire.error(fault.status, fault.message))
      return
    case 'hang':
      await ended(response)
      return
    case 'reset':
      response.socket?.resetAndDestroy()
      return
    case 'broken_stream':
      return breakOff(answer, delivery)
  }
}

export function sendJson(response: ServerResponse, status: number, value: unknown): Promise<boolean> {
  response.writeHead(status, { 'content-type': 'application/json' })
  response.end(JSON.stringify(value))
  return ended(response)
}

/** Half of what would have been sent, and then the connection is gone. */
async function breakOff(answer: Answer, { response, wire, request }: Delivery): Promise<void> {
  const events = wire.events(answer, request)
  const text = JSON.stringify(wire.whole(answer))
  if (request.isStreamed) startStream(response)
  else response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) })
  const half = request.isStreamed ? events.slice(0, Math.ceil(events.length / 2)).map((event) => `${event}\n\n`).join('') : text.slice(0, Math.ceil(text.length / 2))
  // Destroyed only after the half is on its way: else the client would see a reset, which is another fault.
  await new Promise<void>((resolve) => response.write(half, () => resolve()))
  const { socket } = response
  socket?.end(() => socket.destroy())
  await ended(response)
}

function startStream(response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' })
}

/** Whether everything was handed over when it closed. */
async function ended(response: ServerResponse): Promise<boolean> {
  if (!response.writableFinished && !response.destroyed) await Promise.race([once(response, 'finish'), once(response, 'close')])
  return response.writableFinished
}
