import { once } from 'node:events'
import { createServer as createTcpServer, type AddressInfo, type Socket } from 'node:net'
import { afterEach, expect, test } from 'vitest'
import { startRelay } from '../src/index.ts'
import { ask, guestPorts, startScene, targetAt } from './fixture.ts'

const releases: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const release of releases.splice(0).reverse()) await release()
})

test.each([
  { method: 'GET', expectedStatus: 200, expectedTries: 3 },
  { method: 'POST', expectedStatus: 502, expectedTries: 1 },
])('a $method whose connection is reset before any byte is tried $expectedTries time(s)', async ({ method, expectedStatus, expectedTries }) => {
  let tries = 0
  const edge = createTcpServer((socket: Socket) => {
    tries += 1
    const resets = tries < 3
    socket.on('error', () => undefined)
    socket.on('data', () => (resets ? socket.resetAndDestroy() : socket.end('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok')))
  }).listen(0, '127.0.0.1')
  await once(edge, 'listening')
  releases.push(() => new Promise((resolve) => edge.close(resolve)))
  const relay = await startRelay({ ports: guestPorts, onEvent: () => undefined })
  releases.push(() => relay.close())
  relay.setTarget(targetAt(`http://127.0.0.1:${(edge.address() as AddressInfo).port}`))
  const answer = await ask(relay.ports.server, '/execute', { method })
  expect(answer.status).toBe(expectedStatus)
  expect(tries).toBe(expectedTries)
})

test('an unreachable sandbox gives a 502 of the relay after a few tries and one event', async () => {
  const { relay, edge, events } = await startScene((_request, response) => response.end())
  releases.push(() => relay.close())
  await edge.close()
  const answer = await ask(relay.ports.server, '/screenshot')
  expect(JSON.parse(answer.body.toString())).toMatchObject({ author: 'osworld-e2b relay', reason: 'sandbox_unreachable' })
  expect(events).toMatchObject([{ event: 'request_failed', tries: 4, message: 'ECONNREFUSED' }])
})

test('an answer of the edge in place of the guest comes through and is reported', async () => {
  const scene = await startScene((_request, response) => response.writeHead(502, { 'content-type': 'application/json' }).end('{"code":502}'))
  releases.push(() => scene.close())
  const { relay, events } = scene
  expect(await ask(relay.ports.server, '/screenshot')).toMatchObject({ status: 502, body: Buffer.from('{"code":502}') })
  expect(events).toMatchObject([{ event: 'request_refused', status: 502 }])
})

