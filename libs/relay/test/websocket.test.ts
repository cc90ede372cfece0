import { once } from 'node:events'
import { request as httpRequest, type IncomingMessage } from 'node:http'
import { afterEach, expect, test } from 'vitest'
import { WebSocket, WebSocketServer, type RawData } from 'ws'
import { startScene, token, until, type Scene } from './fixture.ts'

const releases: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const release of releases.splice(0).reverse()) await release()
})

interface SocketScene extends Scene {
  readonly handshakes: IncomingMessage[]
}

/** A relay in front of a guest whose WebSocket server hands each connection to `onSocket`. */
async function socketScene(onSocket: (socket: WebSocket) => void): Promise<SocketScene> {
  const scene = await startScene((_request, response) => response.writeHead(404).end())
  const handshakes: IncomingMessage[] = []
  const sockets = new WebSocketServer({
    server: scene.edge.server,
    autoPong: false,
    handleProtocols: (names) => (names.has('binary') ? 'binary' : false),
    verifyClient: ({ req }: { req: IncomingMessage }, accept: (ok: boolean, code?: number, message?: string, headers?: Record<string, string>) => void) => {
      if (req.url === '/refused') accept(false, 403, 'not you', { 'x-reason': 'host', 'e2b-traffic-access-token': token })
      else accept(true)
    },
  })
  sockets.on('connection', (socket, request) => {
    handshakes.push(request)
    onSocket(socket)
  })
  releases.push(() => scene.close())
  return { ...scene, handshakes }
}

async function open(scene: Scene, path = '/', protocols: string[] = [], headers: Record<string, string> = {}): Promise<WebSocket> {
  const client = new WebSocket(`ws://127.0.0.1:${scene.relay.ports.cdp}${path}`, protocols, { headers })
  await once(client, 'open')
  return client
}

test('text and binary messages of both sides keep their kind, order and content', async () => {
  const scene = await socketScene((socket) => socket.on('message', (data: RawData, isBinary) => socket.send(data, { binary: isBinary })))
  const client = await open(scene, '/devtools/page/A?b=c')
  const received: [string, boolean][] = []
  client.on('message', (data: Buffer, isBinary) => received.push([data.toString('hex'), isBinary]))
  client.send('héllo')
  client.send(Buffer.from([0, 255, 1]))
  client.send('')
  await until(() => received.length === 3)
  expect(received).toEqual([[Buffer.from('héllo').toString('hex'), false], ['00ff01', true], ['', false]])
  expect(scene.handshakes[0]?.url).toBe('/devtools/page/A?b=c')
})

test('the handshake carries the token and a localhost Host, and no copies from the client', async () => {
  const scene = await socketScene(() => undefined)
  await open(scene, '/', [], { 'e2b-sandbox-id': 'other', 'X-Access-Token': 'x', Origin: 'http://kept.example' })
  expect(scene.handshakes[0]?.headers).toMatchObject({
    host: 'localhost:9222', 'e2b-sandbox-id': 'sandbox1', 'e2b-traffic-access-token': token, origin: 'http://kept.example',
  })
  expect(scene.handshakes[0]?.headers).not.toHaveProperty('x-access-token')
})

test('the subprotocol is the one that the guest chose', async () => {
  const scene = await socketScene(() => undefined)
  expect((await open(scene, '/', ['base64', 'binary'])).protocol).toBe('binary')
})

test.each([
  { title: 'with a code and a reason', sent: { code: 4321, reason: 'because' }, expected: [4321, 'because'] },
  { title: 'without a code', sent: {}, expected: [1005, ''] },
])('a close $title arrives as it was sent, whichever side closes', async ({ sent: { code: sentCode, reason: sentReason }, expected }) => {
  const guestSaw: unknown[] = []
  const scene = await socketScene((socket) => {
    socket.on('close', (code, reason) => guestSaw.push([code, reason.toString()]))
    socket.on('message', () => socket.close(sentCode, sentReason))
  })
  const closing = await open(scene)
  closing.close(sentCode, sentReason)
  await until(() => guestSaw.length === 1)
  expect(guestSaw).toEqual([expected])
  const closed = await open(scene)
  closed.send('close, please')
  const [code, reason] = (await once(closed, 'close')) as [number, Buffer]
  expect([code, reason.toString()]).toEqual(expected)
  await until(() => scene.events.filter(({ event }) => event === 'websocket_closed').length === 2)
  expect(scene.events.filter(({ event }) => event === 'websocket_closed')).toMatchObject([{ by: 'client', code: expected[0] }, { by: 'guest', code: expected[0] }])
})

test('a side that breaks off is seen as broken off by the other', async () => {
  const scene = await socketScene((socket) => socket.on('message', () => socket.terminate()))
  const client = await open(scene)
  client.send('break off')
  const [code] = (await once(client, 'close')) as [number]
  expect(code).toBe(1006)
})

test('pings are answered by the guest and not by the relay', async () => {
  const scene = await socketScene((socket) => socket.on('ping', (data) => socket.pong(`${data.toString()} from the guest`)))
  const client = await open(scene)
  client.ping('hello')
  const [data] = (await once(client, 'pong')) as [Buffer]
  expect(data.toString()).toBe('hello from the guest')
})

test('a refused upgrade comes through with its status and headers, without the token', async () => {
  const scene = await socketScene(() => undefined)
  const client = new WebSocket(`ws://127.0.0.1:${scene.relay.ports.cdp}/refused`)
  client.on('error', () => undefined)
  const [, answer] = (await once(client, 'unexpected-response')) as [unknown, IncomingMessage]
  expect(answer.statusCode).toBe(403)
  expect(answer.headers['x-reason']).toBe('host')
  expect(answer.headers).not.toHaveProperty('e2b-traffic-access-token')
  answer.destroy()
  expect(scene.events).toMatchObject([{ event: 'websocket_failed', status: 403, path: '/refused' }])
})

test('without a sandbox an upgrade is answered 502 in the name of the relay, and a lost sandbox closes open ones', async () => {
  const scene = await socketScene(() => undefined)
  const client = await open(scene)
  const closed = once(client, 'close') as Promise<[number]>
  scene.relay.setTarget(undefined)
  expect((await closed)[0]).toBe(1001)
  const late = new WebSocket(`ws://127.0.0.1:${scene.relay.ports.cdp}/`)
  late.on('error', () => undefined)
  const [, answer] = (await once(late, 'unexpected-response')) as [unknown, IncomingMessage]
  expect(answer.statusCode).toBe(502)
  answer.destroy()
})

test('closing the relay does not wait for a client that no longer reads', async () => {
  const scene = await socketScene(() => undefined)
  const client = await open(scene)
  client.pause()
  await scene.relay.close()
  client.terminate()
  releases.splice(0)
  await scene.edge.close()
})

test('a token that the guest echoes in a message is masked', async () => {
  const scene = await socketScene((socket) => socket.on('message', () => socket.send(`<${token}>`)))
  const client = await open(scene)
  client.send('echo')
  const [data] = (await once(client, 'message')) as [Buffer]
  expect(data.toString()).toBe(`<${'*'.repeat(token.length)}>`)
})

test('a client that does not read slows the guest down instead of filling the memory', async () => {
  const chunk = Buffer.alloc(1024 * 1024, 1)
  let guest: WebSocket | undefined
  const scene = await socketScene((socket) => {
    guest = socket
    for (let count = 0; count < 60; count++) socket.send(chunk)
  })
  const client = new WebSocket(`ws://127.0.0.1:${scene.relay.ports.vnc}/`)
  let received = 0
  client.on('message', (data: Buffer) => {
    received += data.length
    if (received === chunk.length) client.pause()
  })
  await until(() => received >= chunk.length)
  // The guest still holds most of it once nothing moves any more.
  let waiting = -1
  while (guest?.bufferedAmount !== waiting) {
    waiting = guest?.bufferedAmount ?? 0
    await new Promise((resolve) => setTimeout(resolve, 200))
  }
  expect(waiting).toBeGreaterThan(30 * chunk.length)
  client.resume()
  await until(() => received === 60 * chunk.length)
})

test('an upgrade to something else than WebSocket is refused', async () => {
  const scene = await socketScene(() => undefined)
  const request = httpRequest({ host: '127.0.0.1', port: scene.relay.ports.server, headers: { connection: 'Upgrade', upgrade: 'h2c' } }).end()
  const [answer] = (await once(request, 'response')) as [IncomingMessage]
  expect(answer.statusCode).toBe(400)
  answer.destroy()
})
