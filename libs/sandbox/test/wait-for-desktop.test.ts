import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { secret } from '@osworld-e2b/redaction'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { waitForDesktop, type GuestEndpoint } from '../src/index.ts'

interface Guest {
  platform: number
  output: string
  error: string
  frame: () => string
  looks: number
  seenHeaders: Record<string, unknown>
}

const ready = { window_manager: 'GNOME Shell', desktop_window: true, width: 1920, height: 1080 }
const server = createServer((request, response) => {
  guest.seenHeaders = request.headers
  if (request.url === '/platform') reply(response, guest.platform, 'Linux')
  else if (request.url === '/screenshot') reply(response, 200, guest.frame())
  else {
    guest.looks += 1
    onLook(guest.looks)
    reply(response, 200, JSON.stringify({ status: 'success', output: guest.output, error: guest.error, returncode: 0 }))
  }
})
let guest: Guest
let onLook: (look: number) => void
let endpoint: GuestEndpoint

beforeEach(async () => {
  guest = { platform: 200, output: JSON.stringify(ready), error: '', frame: () => 'frame', looks: 0, seenHeaders: {} }
  onLook = () => undefined
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  endpoint = { baseUrl: `http://127.0.0.1:${port}`, headers: { 'E2b-Sandbox-Id': 'abc' }, host: 'localhost:5000', trafficToken: secret('t0ken', 'traffic token') }
})
afterEach(async () => {
  const closed = once(server, 'close')
  server.close()
  server.closeAllConnections()
  await closed
})

function reply(response: ServerResponse, status: number, body: string): void {
  response.writeHead(status).end(body)
}

const wish = (changes: Partial<Parameters<typeof waitForDesktop>[1]> = {}): Parameters<typeof waitForDesktop>[1] => ({
  deadlineMs: 1_500, signal: new AbortController().signal, isAlive: () => Promise.resolve(true), screen: { width: 1920, height: 1080 }, ...changes,
})

test('a desktop that is there is found, with the token on every request', async () => {
  await waitForDesktop(endpoint, wish())
  expect(guest.seenHeaders).toMatchObject({ 'e2b-traffic-access-token': 't0ken', 'e2b-sandbox-id': 'abc' })
})

test.each([
  { title: 'no guest server', change: () => (guest.platform = 502), missing: '/platform answers 502' },
  { title: 'no display', change: () => Object.assign(guest, { output: '', error: "Traceback\nCan't connect to display" }), missing: "Can't connect to display" },
  { title: 'no window manager', change: () => setProbe({ window_manager: null }), missing: 'no window manager runs yet' },
  { title: 'another window manager', change: () => setProbe({ window_manager: 'Openbox' }), missing: 'Openbox' },
  { title: 'no window of icons', change: () => setProbe({ desktop_window: false }), missing: 'desktop icons' },
  { title: 'another screen size', change: () => setProbe({ height: 1079 }), missing: '1920x1079' },
  { title: 'a picture that moves', change: () => (guest.frame = () => String(Math.random())), missing: 'still changes' },
])('$title is not a desktop, and the error says so', async ({ change, missing }) => {
  change()
  await expect(waitForDesktop(endpoint, wish())).rejects.toMatchObject({ code: 'guest_not_ready', message: expect.stringContaining(missing) as string })
})

test('it goes on looking until the desktop is there', async () => {
  setProbe({ desktop_window: false })
  onLook = (look) => {
    if (look === 3) setProbe({})
  }
  await waitForDesktop(endpoint, wish({ deadlineMs: 20_000 }))
  expect(guest.looks).toBeGreaterThanOrEqual(3)
})

test('a sandbox that died is told from one that is not up yet', async () => {
  guest.platform = 502
  await expect(waitForDesktop(endpoint, wish({ deadlineMs: 60_000, isAlive: () => Promise.resolve(false) }))).rejects.toMatchObject({ code: 'guest_lost' })
})

test('it ends at once with the reason of the signal, also in the middle of a request', async () => {
  const stop = new AbortController()
  const reason = new Error('the sandbox is lost')
  guest.frame = () => {
    stop.abort(reason)
    return 'frame'
  }
  await expect(waitForDesktop(endpoint, wish({ deadlineMs: 60_000, signal: stop.signal }))).rejects.toBe(reason)
})

test('it ends with the reason of the signal also between two looks', async () => {
  const stop = new AbortController()
  const reason = new Error('the sandbox is lost')
  guest.platform = 502
  const isAlive = (): Promise<boolean> => {
    stop.abort(reason)
    return Promise.resolve(true)
  }
  await expect(waitForDesktop(endpoint, wish({ deadlineMs: 60_000, signal: stop.signal, isAlive }))).rejects.toBe(reason)
})

function setProbe(changes: Partial<Record<keyof typeof ready, unknown>>): void {
  guest.output = JSON.stringify({ ...ready, ...changes })
}
