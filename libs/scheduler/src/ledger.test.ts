import { appendFile, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { hostname, tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { acquireRunLock, openLedger } from './index.ts'

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'ledger-test-'))
})
afterEach(() => rm(folder, { recursive: true, force: true }))

const now = () => new Date(0)
const planned = { event: 'PLANNED', domain: 'os', task_id: 'a', trial: 1, attempt: 1, timestamp: now().toISOString(), attempt_dir: 'x' } as const

test('a torn last line is cut off, counted, and everything before it is kept', async () => {
  const path = join(folder, 'attempts.jsonl')
  const first = await openLedger(path, now)
  await first.append(planned)
  await first.close()
  await appendFile(path, '{"event":"STAR')
  const second = await openLedger(path, now)
  expect(second.state.get('os/a#1')?.attempts).toHaveLength(1)
  await second.close()
  expect((await readFile(path, 'utf8')).trim().split('\n').at(-1)).toBe('{"bytes":14,"event":"TAIL_CUT","timestamp":"1970-01-01T00:00:00.000Z"}')
})

test('a tail of garbage, with line ends in it, is cut off like half a line', async () => {
  const path = join(folder, 'attempts.jsonl')
  await writeFile(path, `${JSON.stringify(planned)}\n\0\0\n{"event":\nnonsense\n`)
  const ledger = await openLedger(path, now)
  expect(ledger.state.get('os/a#1')?.attempts).toHaveLength(1)
  await ledger.close()
  expect((await readFile(path, 'utf8')).trim().split('\n').slice(1)).toEqual(['{"bytes":22,"event":"TAIL_CUT","timestamp":"1970-01-01T00:00:00.000Z"}'])
})

test('a broken line in the middle is refused with its number, and the file is left as it was', async () => {
  const path = join(folder, 'attempts.jsonl')
  await writeFile(path, `${JSON.stringify(planned)}\nnonsense\n${JSON.stringify(planned)}\n`)
  const before = await readFile(path)
  await expect(openLedger(path, now)).rejects.toThrow(/attempts\.jsonl line 2 is not valid: it is not JSON/)
  expect(await readFile(path)).toEqual(before)
})

test('an event that does not follow is not written', async () => {
  const path = join(folder, 'attempts.jsonl')
  const ledger = await openLedger(path, now)
  await ledger.append(planned)
  expect(() => ledger.append(planned)).toThrow(/PLANNED/)
  await ledger.close()
  expect((await readFile(path, 'utf8')).trim().split('\n')).toHaveLength(1)
})

test('a run has one owner; the lock of an owner that is gone is taken over', async () => {
  const path = join(folder, 'run.lock')
  const owner = { pid: process.pid, now: now() }
  const lock = await acquireRunLock(path, owner)
  await expect(acquireRunLock(path, owner)).rejects.toThrow(new RegExp(`process ${process.pid} on`))
  await lock.release()
  const gone = { schema_version: 1, host: hostname(), pid: process.pid, pid_start: '1', acquired_at: now().toISOString() }
  await writeFile(path, JSON.stringify(gone))
  const taken = await acquireRunLock(path, owner)
  await taken.release()
})

test('a lock of another host is never taken over', async () => {
  const path = join(folder, 'run.lock')
  await writeFile(path, JSON.stringify({ schema_version: 1, host: 'elsewhere', pid: 1, pid_start: '1', acquired_at: now().toISOString() }))
  await expect(acquireRunLock(path, { pid: process.pid, now: now() })).rejects.toThrow(/on elsewhere/)
})
