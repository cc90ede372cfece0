import type { IncomingMessage } from 'node:http'
import type { GuestAccounts, GuestAccount } from './accounts.ts'
import type { AgentDefaults } from './defaults.ts'
import { parseMessage, type Message } from './message.ts'
import { RpcError } from './rpc-error.ts'

export async function readBody(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = []
  for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk)
  return Buffer.concat(chunks)
}

/** One enveloped message: a flag byte, a big-endian 32-bit length, JSON. */
export function parseEnvelope(body: Buffer): Message {
  if (body.length < 5) return {}
  const length = body.readUInt32BE(1)
  if (body[0] !== 0 || body.length < 5 + length) throw new RpcError('invalid_argument', 'the request envelope is damaged')
  return parseMessage(body.toString('utf8', 5, 5 + length))
}

/** The account that a request runs as: the user name of Basic authorization, else the default one. */
export function requestAccount(request: IncomingMessage, accounts: GuestAccounts, defaults: AgentDefaults): GuestAccount {
  const encoded = /^Basic (\S+)$/i.exec(request.headers.authorization ?? '')?.[1]
  const name = encoded === undefined ? '' : (Buffer.from(encoded, 'base64').toString('utf8').split(':')[0] ?? '')
  return accounts.find(name || defaults.user)
}

/** Milliseconds of a header that holds a positive count of `unitMs`, if it does. */
export function durationHeader(request: IncomingMessage, name: string, unitMs: number): number | undefined {
  const value = Number(request.headers[name])
  return Number.isFinite(value) && value > 0 ? value * unitMs : undefined
}
