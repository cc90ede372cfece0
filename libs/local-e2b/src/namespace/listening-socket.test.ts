import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, rmSync, statSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { openListeningSocket } from './listening-socket.ts'

const answering = "require('node:net').createServer((socket) => socket.end('hello')).listen({ fd: 3 }, () => console.log('listening'))"

it('hands a socket over that outlives the host\'s copy, at a file that only its owner may open', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'listening-socket-'))
  onTestFinished(() => { rmSync(folder, { recursive: true }) })
  const path = join(folder, 'agent.sock')
  const socket = await openListeningSocket(path)
  const child = spawn(process.execPath, ['-e', answering], { stdio: ['ignore', 'pipe', 'inherit', socket.descriptor] })
  onTestFinished(() => { child.kill('SIGKILL') })
  await socket.release()
  expect(existsSync(path)).toBe(true)
  expect(existsSync(`${path}.new`)).toBe(false)
  expect(statSync(path).mode & 0o777).toBe(0o600)
  await once(child.stdout as NodeJS.ReadableStream, 'data')
  const client = connect(path)
  const [said] = (await once(client, 'data')) as [Buffer]
  expect(said.toString()).toBe('hello')
})

it('refuses a path that no socket address can hold', async () => {
  await expect(openListeningSocket(`/${'x'.repeat(110)}`)).rejects.toMatchObject({ code: 'start_failed' })
})
