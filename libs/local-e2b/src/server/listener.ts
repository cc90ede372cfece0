import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import { sendError, sendJson } from '../api/respond.ts'
import type { ApiHandler } from '../api/api.ts'
import { describeError } from '../error.ts'
import { admit, type Admission } from '../ingress/admission.ts'
import { forwardRequest, sendRefusal } from '../ingress/forward.ts'
import { forwardUpgrade, refuseUpgrade } from '../ingress/upgrade.ts'
import { badRequest } from '../ingress/refusal.ts'
import type { Sandboxes } from '../sandboxes/sandboxes.ts'
import type { Clock } from './clock.ts'
import type { Log } from './log.ts'

export interface ListenerOptions {
  readonly api: ApiHandler
  readonly sandboxes: Sandboxes
  readonly clock: Clock
  readonly log: Log
}

/** Longer than any client keeps an idle connection, so that it is never the server that closes one under a request. */
const keepAliveMs = 620_000

/** The one HTTP server for API and ingress. */
export function createListener(options: ListenerOptions): Server {
  const server = createServer({ requestTimeout: 0, keepAliveTimeout: keepAliveMs }, (request, response) => {
    handle(options, request, response).catch((error: unknown) => {
      options.log.error({ method: request.method, reason: describeError(error) }, 'a request failed')
      sendError(response, error)
    })
  })
  server.on('upgrade', (request, socket, head) => {
    upgrade(options, { request, socket, head }).catch((error: unknown) => {
      options.log.error({ reason: describeError(error) }, 'an upgrade failed')
      socket.destroy()
    })
  })
  return server
}

async function handle(options: ListenerOptions, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const admission = admissionOf(options, request)
  if (admission === undefined) {
    sendJson(response, 400, { code: 400, message: 'The request address cannot be read.' })
  } else if (admission.kind === 'not-ingress') {
    await options.api(request, response)
  } else if (admission.kind === 'refused') {
    sendRefusal(response, admission.refusal)
    request.resume()
  } else {
    await forwardRequest(request, response, admission)
  }
}

async function upgrade(options: ListenerOptions, asked: { readonly request: IncomingMessage; readonly socket: Duplex; readonly head: Buffer }): Promise<void> {
  asked.socket.on('error', () => asked.socket.destroy())
  const admission = admissionOf(options, asked.request)
  if (admission?.kind === 'admitted') await forwardUpgrade(asked, admission)
  else refuseUpgrade(asked.socket, admission?.kind === 'refused' ? admission.refusal : badRequest('this address has no protocol to change to'))
}

function admissionOf({ sandboxes, clock }: ListenerOptions, request: IncomingMessage): Admission | undefined {
  const address = request.url ?? '/'
  if (!URL.canParse(address, 'http://local')) return undefined
  const url = new URL(address, 'http://local')
  return admit({ method: request.method ?? 'GET', url, headers: request.headers, nowMs: clock.now() }, sandboxes)
}
