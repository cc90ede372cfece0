import { request as httpRequest, type IncomingHttpHeaders } from 'node:http'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Sandbox } from 'e2b'
import WebSocket from 'ws'
import { removeTestFolders, startTestServer, type TestServer } from './fixtures/test-server.ts'
import { guestServer } from './fixtures/guest-server.ts'
import { until } from './fixtures/until.ts'

const port = 8000
let test: TestServer
let open: Sandbox
let closed: Sandbox

interface Answer {
  readonly status: number
  readonly text: string
  readonly headers: IncomingHttpHeaders
}

/** One request with any Host, which fetch would not allow. */
function ask(path: string, options: { headers?: Record<string, string>; method?: string; body?: string } = {}): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const request = httpRequest(`${test.server.url}${path}`, { method: options.method ?? 'GET', headers: options.headers ?? {} }, (response) => {
      let text = ''
      response.setEncoding('utf8')
      response.on('data', (chunk: string) => (text += chunk))
      response.on('end', () => resolve({ status: response.statusCode ?? 0, text, headers: response.headers }))
      response.on('error', reject)
    })
    request.on('error', reject)
    request.end(options.body)
  })
}

function routing(sandbox: Sandbox, toPort = port): Record<string, string> {
  return { 'E2b-Sandbox-Id': sandbox.sandboxId, 'E2b-Sandbox-Port': String(toPort) }
}

function withToken(sandbox: Sandbox): Record<string, string> {
  return { ...routing(sandbox), 'E2b-Traffic-Access-Token': sandbox.trafficAccessToken ?? '' }
}

async function startGuest(network: Record<string, unknown>): Promise<Sandbox> {
  const sandbox = await test.e2b.Sandbox.create('base', { timeoutMs: 300_000, network })
  await sandbox.files.write('/home/user/server.py', guestServer)
  await sandbox.commands.run(`exec python3 server.py ${port}`, { background: true, timeoutMs: 0 })
  await sandbox.commands.run(`until ss -Htln sport = :${port} | grep -q .; do :; done`)
  return sandbox
}

beforeAll(async () => {
  test = await startTestServer()
  await test.call('POST', '/v2/sandboxes', { templateID: 'base', timeout: 1 })
  open = await startGuest({ maskRequestHost: 'masked:${PORT}' })
  closed = await startGuest({ allowPublicTraffic: false })
}, 300_000)

afterAll(async () => {
  await test.close()
  await removeTestFolders()
})

describe('a guest port', () => {
  it('is reached by the routing headers and by the Host label', async () => {
    const byHeaders = await ask('/hello?x=1', { headers: routing(open) })
    const byHost = await ask('/hello?x=1', { headers: { Host: `${port}-${open.sandboxId}.localhost:3000` } })
    expect([byHeaders.status, byHeaders.text]).toEqual([200, 'GET /hello?x=1'])
    expect([byHost.status, byHost.text]).toEqual([200, 'GET /hello?x=1'])
  })

  it('gets the body and gives its own status and headers', async () => {
    const answer = await ask('/echo', { method: 'POST', headers: { ...routing(open), 'Content-Length': '5' }, body: 'hello' })
    expect([answer.status, answer.text, answer.headers['x-guest']]).toEqual([201, 'hello', 'yes'])
  })

  it('sees canonical names and the masked host, but no routing header and no traffic token', async () => {
    const seen = await ask('/headers', { headers: { ...routing(open), 'x-mixed-case': '1', 'e2b-traffic-access-token': 'guess' } })
    expect(seen.text.split('\n').map((line) => line.split(':')[0])).toEqual(expect.arrayContaining(['Host', 'X-Mixed-Case', 'X-Forwarded-Host']))
    expect(seen.text).toContain(`Host: masked:${port}\n`)
    expect(seen.text).not.toMatch(/e2b|guess/i)
  })

  it('needs the traffic token exactly when public traffic is off', async () => {
    expect(open.trafficAccessToken).toBeUndefined()
    for (const headers of [routing(closed), { ...routing(closed), 'E2b-Traffic-Access-Token': 'wrong' }, { Host: `${port}-${closed.sandboxId}.x` }]) {
      const answer = await ask('/hello', { headers })
      expect([answer.status, JSON.parse(answer.text)]).toMatchObject([403, { sandboxId: closed.sandboxId, code: 403 }])
    }
    const answer = await ask('/headers', { headers: withToken(closed) })
    expect(answer.status).toBe(200)
    expect(answer.text).not.toContain(closed.trafficAccessToken ?? 'no token')
  })

  it('that is closed answers otherwise than a dead sandbox', async () => {
    const unused = await ask('/', { headers: routing(open, 8999) })
    expect([unused.status, JSON.parse(unused.text)]).toEqual([502, { sandboxId: open.sandboxId, message: 'The sandbox is running but port is not open', port: 8999, code: 502 }])
    const dead = await ask('/', { headers: { 'E2b-Sandbox-Id': 'inobody', 'E2b-Sandbox-Port': '8000' } })
    expect([dead.status, JSON.parse(dead.text)]).toEqual([502, { sandboxId: 'inobody', message: 'The sandbox was not found', code: 502 }])
    expect((await ask('/', { headers: { 'E2b-Sandbox-Id': open.sandboxId } })).status).toBe(400)
  })

  it('streams its answer as it comes, and learns when the client leaves', async () => {
    await new Promise<void>((resolve, reject) => {
      const request = httpRequest(`${test.server.url}/drip`, { headers: routing(open) }, (response) => {
        response.once('data', () => {
          request.destroy()
          resolve()
        })
      })
      request.once('error', (error) => {
        if (!request.destroyed) reject(error)
      })
      request.end()
    })
    await until('the guest saw the client leave', async () => (await ask('/drips-left', { headers: routing(open) })).text === '1')
  })

  it('takes a long upload without holding it in memory', async () => {
    const size = 64 * 1024 * 1024
    const held = heldBuffers()
    const before = held()
    let most = 0
    const answer = await new Promise<Answer>((resolve, reject) => {
      const request = httpRequest(`${test.server.url}/count`, { method: 'POST', headers: { ...routing(open), 'Content-Length': size } }, (response) => {
        let text = ''
        response.on('data', (chunk: Buffer) => (text += chunk.toString()))
        response.on('end', () => resolve({ status: response.statusCode ?? 0, text, headers: response.headers }))
      })
      request.on('error', reject)
      const chunk = Buffer.alloc(1024 * 1024)
      let sent = 0
      const send = (): void => {
        while (sent < size) {
          sent += chunk.length
          if (sent % (8 * chunk.length) === 0) most = Math.max(most, held() - before)
          if (!request.write(chunk)) return void request.once('drain', send)
        }
        request.end()
      }
      send()
    })
    expect(answer.text).toBe(String(size))
    expect(most).toBeLessThan(size / 4)
  })
})

describe('a WebSocket to a guest port', () => {
  function connect(headers: Record<string, string>): WebSocket {
    return new WebSocket(`${test.server.url.replace('http', 'ws')}/socket`, { headers })
  }

  async function echoOf(socket: WebSocket, text: string): Promise<string> {
    return new Promise((resolve, reject) => {
      socket.once('error', reject)
      socket.once('open', () => socket.send(text))
      socket.once('message', (data: Buffer) => resolve(data.toString()))
    })
  }

  it('carries messages both ways', async () => {
    const socket = connect(withToken(closed))
    expect(await echoOf(socket, 'over the wire')).toBe('over the wire')
    socket.terminate()
  })

  it('is refused with 403 without the token and 502 on a closed port', async () => {
    await expect(echoOf(connect(routing(closed)), '')).rejects.toThrow('403')
    await expect(echoOf(connect(routing(open, 8999)), '')).rejects.toThrow('502')
    await expect(echoOf(connect({}), '')).rejects.toThrow('400')
  })

  it('is cut when its sandbox is killed, and the sandbox is not found from then on', async () => {
    const sandbox = await startGuest({})
    const socket = connect(routing(sandbox))
    await echoOf(socket, 'x')
    const cut = new Promise<number>((resolve) => socket.once('close', resolve))
    await sandbox.kill()
    expect(await cut).toBe(1006)
    expect((await ask('/hello', { headers: routing(sandbox) })).status).toBe(502)
  })
})

/** Bytes of buffers that something still refers to: what is only not collected yet does not count. */
function heldBuffers(): () => number {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  return () => {
    collect()
    return process.memoryUsage().arrayBuffers
  }
}
