import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { AttemptMessage } from '@osworld-e2b/contracts'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { type ControlServer, openControlServer } from './control-server.ts'

// Who speaks first is the adapter: it connects before any code of the guest's runs. What runs in the adapter's own process
// shares its connection, so a metric gone wrong can still say any reward of its own attempt, and of no other.

const forged = { type: 'finished', outcome: 'valid', reward: 1, evaluator: {}, loaded_packages: [], adjustments_digest: 'a'.repeat(64), upstream: { name: 'x', version: '1' } }
let folder: string
let control: ControlServer
let received: AttemptMessage[]

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'control-'))
  received = []
  control = await openControlServer(folder, { onMessage: (message) => received.push(message), onBadLine: (problem) => expect.unreachable(problem) })
})
afterEach(async () => {
  await control.close()
  await rm(folder, { recursive: true })
})

it('takes nothing from a second connection, so a process beside the adapter cannot tell a reward', async () => {
  const adapter = connect(control.path)
  await once(adapter, 'connect')
  adapter.write('{"type":"phase","phase":"evaluate"}\n')
  const forger = connect(control.path)
  forger.on('error', () => undefined)
  forger.write(`${JSON.stringify(forged)}\n`)
  await new Promise((resolve) => forger.once('close', resolve))
  adapter.end()
  await once(adapter, 'close')
  await control.drained()
  expect(received).toEqual([{ type: 'phase', phase: 'evaluate' }])
})

it('takes the reward from the first connection', async () => {
  const adapter = connect(control.path)
  await once(adapter, 'connect')
  adapter.end(`${JSON.stringify(forged)}\n`)
  await once(adapter, 'close')
  await control.drained()
  expect(received).toMatchObject([{ type: 'finished', reward: 1 }])
})
