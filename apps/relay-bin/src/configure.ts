import { parseDocument, relayConfigureSchema, relayRequestSchema, type RelayConfigure, type RelayRequest } from '@osworld-e2b/contracts'

/** A line on standard input that is not what the protocol asks for; its message never repeats the line, which may hold the key. */
export class ProtocolError extends Error {
  override readonly name = 'ProtocolError'
}

export function parseConfigure(line: string): RelayConfigure {
  return parseDocument(relayConfigureSchema, 'The first line', parseLine(line))
}

export function parseRequest(line: string): RelayRequest {
  return parseDocument(relayRequestSchema, 'A request line', parseLine(line))
}

function parseLine(line: string): unknown {
  try {
    return JSON.parse(line)
  } catch {
    // The parser's own message would quote the line.
    throw new ProtocolError('A line on standard input is not JSON.')
  }
}
