import type { IncomingMessage, ServerResponse } from 'node:http'
import type { GuestAccounts } from './accounts.ts'
import type { AgentDefaults } from './defaults.ts'
import { sendFile } from './file-download.ts'
import { receiveFiles } from './file-upload.ts'
import { resolvePath } from './guest-path.ts'
import { requestAccount } from './request.ts'
import { errnoOf, RpcError, toRpcError } from './rpc-error.ts'

const methodNotAllowed = 405
const diskFull = 507

/** `/files` speaks plain HTTP: its refusals carry the status as a number. */
export async function answerFiles(request: IncomingMessage, response: ServerResponse, parts: { accounts: GuestAccounts; defaults: AgentDefaults }): Promise<void> {
  try {
    const query = new URL(request.url ?? '/', 'http://guest').searchParams
    const name = query.get('username') ?? ''
    const account = name === '' ? requestAccount(request, parts.accounts, parts.defaults) : parts.accounts.find(name)
    const path = query.get('path') ?? undefined
    if (request.method === 'GET' || request.method === 'HEAD') {
      await sendFile(resolvePath(path ?? '', account), request, response)
    } else if (request.method === 'POST') {
      sendJson(response, 200, await receiveFiles(request, path, account))
    } else sendJson(response, methodNotAllowed, { code: methodNotAllowed, message: `${request.method ?? ''} is not offered for /files` })
  } catch (error) {
    refuse(response, error)
  }
}

function refuse(response: ServerResponse, error: unknown): void {
  if (response.headersSent) {
    response.destroy()
    return
  }
  const refusal = error instanceof RpcError ? error : toRpcError(error)
  const status = errnoOf(error) === 'ENOSPC' ? diskFull : refusal.status
  // The rest of an upload is not worth reading.
  response.setHeader('connection', 'close')
  sendJson(response, status, { code: status, message: refusal.message })
}

export function sendJson(response: ServerResponse, status: number, value: object): void {
  const body = JSON.stringify(value)
  response.writeHead(status, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }).end(body)
}
