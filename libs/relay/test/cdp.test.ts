import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { AddressInfo } from 'node:net'
import { chromium } from 'playwright-core'
import { afterEach, expect, test } from 'vitest'
import { startRelay } from '../src/index.ts'
import { ask, guestPorts, startScene, targetAt, until } from './fixture.ts'

const releases: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const release of releases.splice(0).reverse()) await release()
})

const page = {
  description: '',
  devtoolsFrontendUrl: 'https://frontend.example/inspector.html?ws=localhost:9222/devtools/page/A',
  title: 'ws://localhost:9222/ in a title stays',
  webSocketDebuggerUrl: 'ws://localhost:9222/devtools/page/A',
}

async function cdpScene(body: string): ReturnType<typeof startScene> {
  const scene = await startScene((_request, response) => response.writeHead(200, { 'content-type': 'application/json; charset=UTF-8', 'content-length': Buffer.byteLength(body) }).end(body))
  releases.push(() => scene.close())
  return scene
}

test.each(['/json', '/json/list', '/json/list?x=1', '/json/new'])('the addresses in %s lead back to the local listener', async (path) => {
  const { relay } = await cdpScene(JSON.stringify([page]))
  const answer = await ask(relay.ports.cdp, path)
  expect(Number(answer.headers['content-length'])).toBe(answer.body.length)
  expect(JSON.parse(answer.body.toString())).toEqual([
    {
      ...page,
      devtoolsFrontendUrl: `https://frontend.example/inspector.html?ws=127.0.0.1:${relay.ports.cdp}/devtools/page/A`,
      webSocketDebuggerUrl: `ws://127.0.0.1:${relay.ports.cdp}/devtools/page/A`,
    },
  ])
})

test('the one address of /json/version is rewritten, also when the edge made it a secure one', async () => {
  const { relay } = await cdpScene(JSON.stringify({ Browser: 'Chrome/130', webSocketDebuggerUrl: 'wss://9222-abc.e2b.app/devtools/browser/B' }))
  expect(JSON.parse((await ask(relay.ports.cdp, '/json/version')).body.toString())).toEqual({
    Browser: 'Chrome/130', webSocketDebuggerUrl: `ws://127.0.0.1:${relay.ports.cdp}/devtools/browser/B`,
  })
})

test('the document is asked for uncompressed, and one that breaks off breaks off at the client', async () => {
  let encoding: string | undefined = 'unseen'
  const scene = await startScene((request, response) => {
    encoding = request.headers['accept-encoding']
    response.writeHead(200, { 'content-length': '100' }).write('[')
    setImmediate(() => response.destroy())
  })
  releases.push(() => scene.close())
  await expect(ask(scene.relay.ports.cdp, '/json', { headers: { 'accept-encoding': 'gzip' } })).rejects.toThrow('socket hang up')
  expect(encoding).toBeUndefined()
})

test('text that is not JSON, and the same page on another port, come through unchanged', async () => {
  const closing = await cdpScene('Target is closing')
  expect((await ask(closing.relay.ports.cdp, '/json/close/A')).body.toString()).toBe('Target is closing')
  const other = await cdpScene(JSON.stringify([page]))
  expect((await ask(other.relay.ports.server, '/json')).body.toString()).toBe(JSON.stringify([page]))
})

const browserPaths = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome', '/opt/google/chrome/chrome']
const browserPath = browserPaths.find((path) => existsSync(path))

test.skipIf(browserPath === undefined)('a real Chromium is driven through the relay (skipped where none is installed)', async () => {
  if (browserPath === undefined) return
  const profile = await mkdtemp(join(tmpdir(), 'relay-chromium-'))
  const debuggingPort = await freePort()
  const browser = spawn(browserPath, ['--headless', '--no-sandbox', '--disable-gpu', `--remote-debugging-port=${debuggingPort}`, `--user-data-dir=${profile}`, 'about:blank'], { stdio: ['ignore', 'ignore', 'pipe'] })
  let output = ''
  browser.stderr.on('data', (chunk: Buffer) => (output += chunk.toString()))
  releases.push(async () => {
    const exited = browser.exitCode === null ? once(browser, 'exit') : Promise.resolve()
    browser.kill('SIGKILL')
    await exited
    await rm(profile, { recursive: true, force: true, maxRetries: 10 })
  })
  await until(() => output.includes('DevTools listening'))
  const relay = await startRelay({ ports: guestPorts, onEvent: () => undefined })
  releases.push(() => relay.close())
  relay.setTarget(targetAt(`http://127.0.0.1:${debuggingPort}`))
  const connected = await chromium.connectOverCDP(`http://127.0.0.1:${relay.ports.cdp}`)
  releases.push(() => connected.close())
  const tab = await (connected.contexts()[0] ?? (await connected.newContext())).newPage()
  await tab.setContent('<title>through the relay</title>')
  expect(await tab.title()).toBe('through the relay')
})

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
}
