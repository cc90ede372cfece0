import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { GuestAccount, GuestAccounts } from './accounts.ts'
import { applyDefaults, type AgentDefaults } from './defaults.ts'
import { answerFiles, sendJson } from './files-endpoint.ts'
import type { FilesystemService } from './filesystem-service.ts'
import { parseMessage, type Message } from './message.ts'
import { tunnelToPort } from './port-tunnel.ts'
import { EventStream } from './event-stream.ts'
import type { ProcessService, StreamCall } from './process-service.ts'
import { parseEnvelope, readBody, requestAccount } from './request.ts'
import { RpcError, toRpcError } from './rpc-error.ts'

export interface AgentParts {
  readonly accounts: GuestAccounts
  readonly defaults: AgentDefaults
  readonly processes: ProcessService
  readonly files: FilesystemService
}

/** The agent's HTTP server; the caller makes it listen. It asks for no token, as only the host reaches its socket. */
export function createAgentServer(parts: AgentParts): Server {
  const server = createServer((request, response) => { void answer(parts, request, response) })
  server.on('connect', tunnelToPort)
  server.requestTimeout = 0
  server.headersTimeout = 0
  server.keepAliveTimeout = 0
  return server
}

interface Incoming {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly body: Buffer
}

async function answer(parts: AgentParts, request: IncomingMessage, response: ServerResponse): Promise<void> {
  try {
    await route(parts, request, response)
  } catch (error) {
    if (response.headersSent) {
      response.destroy()
      return
    }
    const refusal = toRpcError(error)
    sendJson(response, refusal.status, { code: refusal.code, message: refusal.message })
  }
}

async function route(parts: AgentParts, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const path = (request.url ?? '/').split('?')[0] ?? '/'
  if (path === '/health') {
    response.writeHead(204).end()
    return
  }
  if (path === '/files') return answerFiles(request, response, parts)
  if (request.method !== 'POST') throw new RpcError('not_found', `no such path: ${path}`)
  const body = await readBody(request)
  if (path === '/init') {
    applyDefaults(parts.defaults, parseMessage(body.toString()))
    response.writeHead(204).end()
    return
  }
  if ((request.headers['content-type'] ?? '').startsWith('application/connect+json')) {
    await stream(parts, path, { request, response, body })
    return
  }
  const account = requestAccount(request, parts.accounts, parts.defaults)
  sendJson(response, 200, await unary({ parts, path, message: parseMessage(body.toString()), account }))
}

/** Refusals of a stream travel inside it, under status 200. */
async function stream(parts: AgentParts, path: string, incoming: Incoming): Promise<void> {
  const { request, response } = incoming
  try {
    const account = requestAccount(request, parts.accounts, parts.defaults)
    const call = { request, response, message: parseEnvelope(incoming.body), account }
    await streamMethod(parts, path, call)
  } catch (error) {
    if (response.headersSent) throw error
    new EventStream(request, response, {}).fail(error)
  }
}

async function streamMethod(parts: AgentParts, path: string, call: StreamCall): Promise<void> {
  switch (path) {
    case '/process.Process/Start':
      return parts.processes.start(call)
    case '/process.Process/Connect':
      parts.processes.connect(call)
      return
    case '/filesystem.Filesystem/WatchDir':
      parts.files.watchDir(call)
      return
    default:
      throw new RpcError('unimplemented', `${path} is not offered`)
  }
}

interface UnaryCall {
  readonly parts: AgentParts
  readonly path: string
  readonly message: Message
  readonly account: GuestAccount
}

async function unary({ parts: { processes, files }, path, message, account }: UnaryCall): Promise<object> {
  switch (path) {
    case '/process.Process/List':
      return processes.list()
    case '/process.Process/SendSignal':
      return processes.sendSignal(message)
    case '/process.Process/SendInput':
      return processes.sendInput(message)
    case '/process.Process/CloseStdin':
      return processes.closeStdin(message)
    case '/filesystem.Filesystem/Stat':
      return files.stat(message, account)
    case '/filesystem.Filesystem/MakeDir':
      return files.makeDir(message, account)
    case '/filesystem.Filesystem/Move':
      return files.move(message, account)
    case '/filesystem.Filesystem/ListDir':
      return files.listDir(message, account)
    case '/filesystem.Filesystem/Remove':
      return files.remove(message, account)
    default:
      throw new RpcError('unimplemented', `${path} is not offered`)
  }
}
