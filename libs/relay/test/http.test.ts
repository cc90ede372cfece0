import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { request as httpRequest, type IncomingMessage } from 'node:http'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { afterEach, expect, test } from 'vitest'
import { startRelay, type Relay } from '../src/index.ts'
import { ask, guestPorts, startScene, targetAt, token, until, type Scene } from './fixture.ts'

const releases: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const release of releases.splice(0).reverse()) await release()
})

async function scene(...args: Parameters<typeof startScene>): Promise<Scene> {
  const made = await startScene(...args)
  releases.push(() => made.close())
  return made
}

async function bareRelay(): Promise<Relay> {
  const relay = await startRelay({ ports: guestPorts, onEvent: () => undefined })
  releases.push(() => relay.close())
  return relay
}

test('four different ports are bound before any sandbox exists, and answer 502 in the name of the relay', async () => {
  const relay = await bareRelay()
  expect(new Set(Object.values(relay.ports)).size).toBe(4)
  for (const port of Object.values(relay.ports)) {
    const answer = await ask(port, '/platform')
    expect(answer.status).toBe(502)
    expect(JSON.parse(answer.body.toString())).toMatchObject({ author: 'osworld-e2b relay', reason: 'no_sandbox' })
  }
})

test('the sandbox gets our headers, and neither copies of them from the client nor headers of the connection', async () => {
  const { relay } = await scene((request, response) => response.end(JSON.stringify({ headers: request.headers, url: request.url })))
  const answer = await ask(relay.ports.server, '/a//b?q=%20{}', {
    headers: {
      'E2b-Sandbox-Id': 'somebody-else', 'e2b-anything': '1', 'X-Access-Token': 'stolen', 'e2b-traffic-access-token': 'guess',
      'x-kept': 'yes', connection: 'x-dropped', 'x-dropped': 'no', 'keep-alive': 'timeout=1', te: 'trailers',
    },
  })
  const seen = JSON.parse(answer.body.toString().replaceAll('*'.repeat(token.length), token)) as { headers: Record<string, string>; url: string }
  expect(seen.url).toBe('/a//b?q=%20{}')
  expect(seen.headers).toMatchObject({
    'e2b-sandbox-id': 'sandbox1', 'e2b-sandbox-port': '5000', 'e2b-traffic-access-token': token, host: 'localhost:5000', 'x-kept': 'yes',
  })
  for (const name of ['e2b-anything', 'x-access-token', 'x-dropped', 'keep-alive', 'te']) expect(seen.headers).not.toHaveProperty(name)
})

test('the token never comes back, in whatever header or cut of the body the guest puts it', async () => {
  const { relay } = await scene((request, response) => {
    const echoed = String(request.headers['e2b-traffic-access-token'])
    response.setHeader('e2b-traffic-access-token', echoed)
    response.setHeader('x-echo', `<${echoed}>`)
    response.setHeader('content-length', String(`a${echoed}b`.length))
    response.write(`a${echoed.slice(0, 7)}`)
    setImmediate(() => response.end(`${echoed.slice(7)}b`))
  })
  const answer = await ask(relay.ports.server, '/')
  expect(answer.headers).not.toHaveProperty('e2b-traffic-access-token')
  expect(JSON.stringify(answer.rawHeaders)).not.toContain(token)
  expect(answer.body.toString()).toBe(`a${'*'.repeat(token.length)}b`)
})

test('status, repeated headers and statuses without a body come through as they are', async () => {
  const { relay } = await scene((request, response) => {
    if (request.url === '/empty') response.writeHead(204).end()
    else response.writeHead(418, 'Short', ['Set-Cookie', 'a=1', 'Set-Cookie', 'b=2', 'X-Case', 'Kept']).end('teapot')
  })
  const teapot = await ask(relay.ports.vlc, '/')
  expect(teapot.status).toBe(418)
  expect(teapot.headers['set-cookie']).toEqual(['a=1', 'b=2'])
  expect(teapot.rawHeaders).toContain('X-Case')
  expect(await ask(relay.ports.vlc, '/empty')).toMatchObject({ status: 204, body: Buffer.alloc(0) })
})

test('HEAD gives the length of the body and no body', async () => {
  const { relay } = await scene((_request, response) => response.writeHead(200, { 'content-length': '12345' }).end())
  const answer = await ask(relay.ports.server, '/file', { method: 'HEAD' })
  expect(answer.headers['content-length']).toBe('12345')
  expect(answer.body).toHaveLength(0)
})

test.each(['POST', 'DELETE', 'PUT'])('a chunked body of a %s arrives whole and is not mistaken for a further request', async (method) => {
  const seen: string[] = []
  const { relay } = await scene((request, response) => {
    let body = ''
    request.on('data', (chunk: Buffer) => (body += chunk.toString()))
    request.on('end', () => {
      seen.push(`${request.method ?? ''} ${body}`)
      response.end()
    })
  })
  await ask(relay.ports.server, '/', { method, headers: { 'transfer-encoding': 'chunked' }, body: 'GET /smuggled HTTP/1.1\r\n\r\n' })
  await ask(relay.ports.server, '/')
  expect(seen).toEqual([`${method} GET /smuggled HTTP/1.1\r\n\r\n`, 'GET '])
})

test('50 MB stream both ways unchanged, without being gathered in memory', async () => {
  const chunk = randomBytes(1024 * 1024)
  const expected = createHash('sha256')
  for (let count = 0; count < 50; count++) expected.update(chunk)
  const digest = expected.digest('hex')
  const { relay } = await scene((request, response) => {
    if (request.method === 'POST') {
      const received = createHash('sha256')
      request.on('data', (data: Buffer) => received.update(data))
      request.on('end', () => response.end(received.digest('hex')))
    } else void pipeline(Readable.from(repeat(chunk, 50)), response)
  })
  const held = heldBytes()
  const before = held()
  let highest = 0
  const watch = setInterval(() => {
    highest = Math.max(highest, held() - before)
  }, 25)
  const upload = httpRequest({ host: '127.0.0.1', port: relay.ports.server, path: '/setup/upload', method: 'POST' })
  const answered = once(upload, 'response') as Promise<[IncomingMessage]>
  await pipeline(Readable.from(repeat(chunk, 50)), upload)
  const [uploaded] = await answered
  expect(await text(uploaded)).toBe(digest)
  const download = httpRequest({ host: '127.0.0.1', port: relay.ports.server, path: '/file' }).end()
  const [downloaded] = (await once(download, 'response')) as [IncomingMessage]
  const received = createHash('sha256')
  for await (const data of downloaded) received.update(data as Buffer)
  clearInterval(watch)
  expect(received.digest('hex')).toBe(digest)
  expect(highest).toBeLessThan(40 * 1024 * 1024)
})

/** Bytes that something still refers to: what is only not collected yet does not count. */
function heldBytes(): () => number {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  return () => {
    collect()
    const { arrayBuffers, heapUsed } = process.memoryUsage()
    return arrayBuffers + heapUsed
  }
}

test('the first bytes of an answer arrive while the rest is still being made', async () => {
  let finish = (): void => undefined
  const { relay } = await scene((_request, response) => {
    response.write('one')
    finish = () => response.end('two')
  })
  const request = httpRequest({ host: '127.0.0.1', port: relay.ports.server, path: '/' }).end()
  const [response] = (await once(request, 'response')) as [IncomingMessage]
  const [first] = (await once(response, 'data')) as [Buffer]
  expect(first.toString()).toBe('one')
  finish()
  const [last] = (await once(response, 'data')) as [Buffer]
  expect(last.toString()).toBe('two')
})

test('30 requests at a time are all under way in the guest at once', async () => {
  const waiting: (() => void)[] = []
  const { relay } = await scene((request, response) => {
    waiting.push(() => response.end(request.url))
    if (waiting.length === 30) for (const answer of waiting) answer()
  })
  const answers = await Promise.all(Array.from({ length: 30 }, (_, index) => ask(relay.ports.server, `/${index}`)))
  expect(answers.map(({ body }) => body.toString())).toEqual(Array.from({ length: 30 }, (_, index) => `/${index}`))
})

test('a client that leaves takes its request in the guest with it, also when the request was read whole', async () => {
  let closed = false
  let arrived = false
  const { relay, events } = await scene((_request, response) => {
    arrived = true
    response.on('close', () => (closed = true))
  })
  const request = httpRequest({ host: '127.0.0.1', port: relay.ports.server, path: '/slow' }).on('error', () => undefined).end()
  await until(() => arrived)
  request.destroy()
  await until(() => closed)
  await until(() => events.length > 0)
  expect(events).toMatchObject([{ event: 'request_aborted', port: 'server', method: 'GET', path: '/slow' }])
})

test('an answer that breaks off in the guest breaks off at the client, and is reported without its query', async () => {
  const { relay, events } = await scene((_request, response) => {
    response.writeHead(200, { 'content-length': '1000' })
    response.write('half')
    setImmediate(() => response.destroy())
  })
  await expect(ask(relay.ports.server, '/file?secret=1')).rejects.toThrow('aborted')
  await until(() => events.length > 0)
  expect(events).toMatchObject([{ event: 'request_failed', path: '/file', tries: 1 }])
})

test('connections to the sandbox are used again', async () => {
  let connections = 0
  const { relay, edge } = await scene((_request, response) => response.end())
  edge.server.on('connection', () => (connections += 1))
  for (let count = 0; count < 5; count++) await ask(relay.ports.server, '/')
  expect(connections).toBe(1)
})

test('taking the sandbox away ends requests under way at once with a 502, and a new one serves again', async () => {
  let arrived = false
  const { relay, edge } = await scene((request, response) => {
    arrived = true
    if (request.url === '/quick') response.end('served')
  })
  const pending = ask(relay.ports.server, '/execute', { method: 'POST', body: '{}' })
  await until(() => arrived)
  relay.setTarget(undefined)
  expect(JSON.parse((await pending).body.toString())).toMatchObject({ reason: 'sandbox_gone' })
  expect((await ask(relay.ports.server, '/quick')).status).toBe(502)
  relay.setTarget(targetAt(edge.url))
  expect((await ask(relay.ports.server, '/quick')).body.toString()).toBe('served')
})

test('a whole URL as request target is refused, so that no client chooses the host', async () => {
  const { relay } = await scene((_request, response) => response.end('reached'))
  const answer = await ask(relay.ports.server, 'http://elsewhere.example/')
  expect(answer.status).toBe(400)
})

test('after close nothing listens any more', async () => {
  const relay = await startRelay({ ports: guestPorts, onEvent: () => undefined })
  await relay.close()
  await expect(ask(relay.ports.server, '/')).rejects.toThrow('ECONNREFUSED')
})

function* repeat(chunk: Buffer, count: number): Generator<Buffer> {
  for (let index = 0; index < count; index++) yield chunk
}

async function text(response: IncomingMessage): Promise<string> {
  let body = ''
  for await (const chunk of response) body += (chunk as Buffer).toString()
  return body
}
