import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { attemptProcesses } from './attempt-processes.ts'
import { systemClock } from './clock.ts'
import { createRoom } from './room.ts'

const identity = { domain: 'os', id: 'a', trial: 1, attempt: 1, attemptDir: 'attempts/os/a/1.1' }
let runFolder: string
beforeEach(async () => {
  runFolder = await mkdtemp(join(tmpdir(), 'leftover-'))
  await mkdir(join(runFolder, 'attempts/os/a'), { recursive: true })
})
afterEach(() => rm(runFolder, { recursive: true, force: true }))

function processes() {
  const unused = () => {
    throw new Error('A leftover starts nothing.')
  }
  return attemptProcesses({
    runFolder,
    room: createRoom({ folder: runFolder, clock: systemClock, signal: new AbortController().signal }),
    relayCommand: { file: 'none', args: [], environment: {}, cwd: runFolder },
    attemptCommand: unused,
    planAttempt: unused,
    killSandboxes: unused,
    temporaryFolder: runFolder,
    monotonicMs: () => 0,
  })
}

test('evidence of an earlier owner that cannot be catalogued is a problem of its attempt and does not keep the run from being resumed', async () => {
  await writeFile(join(runFolder, identity.attemptDir), 'a file where the folder was')
  expect(await processes().closeLeftover(identity, undefined)).toEqual({ problem: expect.stringMatching(/^The attempt's files could not be catalogued: ENOTDIR/) as string })
})

test('an attempt of an earlier owner counts with what it is known to have used', async () => {
  await mkdir(join(runFolder, identity.attemptDir))
  const event = (second: number, name: string) => `${JSON.stringify({ at: `2026-01-01T00:00:${second}.000Z`, event: name, seconds: 5 })}\n`
  await writeFile(join(runFolder, identity.attemptDir, 'relay-events.jsonl'), event(10, 'SANDBOX_CREATED') + event(40, 'SANDBOX_CLEANED'))
  expect(await processes().closeLeftover(identity, undefined)).toEqual({ sandboxSeconds: 35, catalogSha256: expect.stringMatching(/^[0-9a-f]{64}$/) as string })
})
