import { describe, expect, it } from 'vitest'
import { clientHeaders, guestHeaders, maskedHost } from './headers.ts'

const plain = { maskedHost: undefined, keepsUpgrade: false }

describe('headers towards a guest', () => {
  it('have canonical names and neither routing nor traffic token nor what concerns one hop', () => {
    const raw = ['host', 'a.b', 'content-type', 'text/plain', 'e2b-sandbox-id', 'i1', 'e2b-sandbox-port', '5000', 'e2b-traffic-access-token', 's1']
    const more = ['x-api-key', 'of the guest', 'connection', 'keep-alive, x-hop', 'x-hop', '1', 'te', 'trailers', 'cookie', 'a=1', 'cookie', 'b=2']
    expect(guestHeaders([...raw, ...more], plain)).toEqual(['Host', 'a.b', 'Content-Type', 'text/plain', 'X-Api-Key', 'of the guest', 'Cookie', 'a=1', 'Cookie', 'b=2', 'Connection', 'keep-alive'])
  })

  it('show the masked host and keep the real one beside it', () => {
    const options = { maskedHost: maskedHost('localhost:${PORT}', 9222), keepsUpgrade: false }
    expect(guestHeaders(['host', '9222-i1.example'], options)).toEqual(['Host', 'localhost:9222', 'X-Forwarded-Host', '9222-i1.example', 'Connection', 'keep-alive'])
  })

  it('keep the wish to change the protocol', () => {
    const raw = ['Host', 'a', 'Connection', 'Upgrade', 'Upgrade', 'websocket', 'sec-websocket-key', 'k', 'E2b-Traffic-Access-Token', 's']
    expect(guestHeaders(raw, { maskedHost: undefined, keepsUpgrade: true })).toEqual(['Host', 'a', 'Connection', 'Upgrade', 'Upgrade', 'websocket', 'Sec-Websocket-Key', 'k'])
  })
})

describe('headers towards a client', () => {
  it('leave out what concerns one hop and keep repeated ones', () => {
    const raw = ['Set-Cookie', 'a', 'Set-Cookie', 'b', 'Connection', 'close, X-Gone', 'X-Gone', '1', 'Transfer-Encoding', 'chunked', 'Keep-Alive', 'timeout=5', 'Content-Length', '3']
    expect(clientHeaders(raw)).toEqual(['Set-Cookie', 'a', 'Set-Cookie', 'b', 'Content-Length', '3'])
  })
})
