import { RpcError } from './rpc-error.ts'

/** A decoded proto3-JSON message. */
export type Message = Readonly<Record<string, unknown>>

export function parseMessage(text: string): Message {
  if (text === '') return {}
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    throw new RpcError('invalid_argument', 'the request is not JSON', { cause: error })
  }
  return asMessage(value, 'the request')
}

export function messageField(message: Message, name: string): Message {
  const value = message[name]
  return value === undefined || value === null ? {} : asMessage(value, name)
}

export function textField(message: Message, name: string): string {
  const value = message[name] ?? ''
  if (typeof value === 'string') return value
  throw new RpcError('invalid_argument', `${name} must be a string`)
}

export function flagField(message: Message, name: string): boolean {
  const value = message[name] ?? false
  if (typeof value === 'boolean') return value
  throw new RpcError('invalid_argument', `${name} must be true or false`)
}

/** proto3 JSON writes 32-bit integers as numbers and accepts strings. */
export function integerField(message: Message, name: string): number | undefined {
  const value = message[name]
  if (value === undefined || value === null) return undefined
  const number = typeof value === 'string' && value !== '' ? Number(value) : value
  if (typeof number === 'number' && Number.isInteger(number) && number >= 0) return number
  throw new RpcError('invalid_argument', `${name} must be an integer`)
}

/** Bytes travel as base64, with either alphabet. */
export function bytesField(message: Message, name: string): Buffer | undefined {
  return message[name] === undefined ? undefined : Buffer.from(textField(message, name), 'base64')
}

export function textListField(message: Message, name: string): readonly string[] {
  const value = message[name] ?? []
  if (Array.isArray(value) && value.every((item): item is string => typeof item === 'string')) return value
  throw new RpcError('invalid_argument', `${name} must be a list of strings`)
}

export function textMapField(message: Message, name: string): Readonly<Record<string, string>> {
  const map = messageField(message, name)
  return Object.fromEntries(Object.keys(map).map((key) => [key, textField(map, key)]))
}

function asMessage(value: unknown, what: string): Message {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Message
  throw new RpcError('invalid_argument', `${what} must be an object`)
}
