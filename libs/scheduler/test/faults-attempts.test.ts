import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Phase } from '@osworld-e2b/contracts'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { programCommand } from './faults-campaign.ts'
import { programs, type RunParts, runFaulty } from './faults-run.ts'

let runFolder: string
beforeEach(async () => {
  runFolder = await mkdtemp(join(tmpdir(), 'faults-run-'))
})
afterEach(() => rm(runFolder, { recursive: true, force: true }))

describe('a phase that takes longer than it may', () => {
  test.each([
    ['setup', 3],
    ['agent', 1],
    ['evaluate', 3],
  ] as const)('%s is a time-out of that phase, and is tried %i times by the table', async (phase: Phase, attempts: number) => {
    const { result, reports } = await runFaulty({ runFolder, tasks: [{ id: 'slow', attempts: [`hangs-in-${phase}`] }], maxAttempts: 3, phaseTimeoutsMs: { [phase]: 300 } })
    const outcome = { kind: 'invalid', reason: 'timeout', phase, message: `The phase ${phase} took longer than 0.3 s.` }
    expect(reports('slow').map((report) => report.outcome)).toEqual(Array.from({ length: attempts }, () => outcome))
    expect(result).toMatchObject({ reason: 'incomplete', aggregate: { valid_tasks: 0, invalid_by_reason: { timeout: attempts } } })
  })

  test('only the phase that has a time-out of its own is held to it', async () => {
    const { result } = await runFaulty({ runFolder, tasks: [{ id: 'slow', attempts: ['hangs-in-setup', 'valid'] }], maxAttempts: 2, phaseTimeoutsMs: { setup: 300 } })
    expect(result).toMatchObject({ reason: 'complete', aggregate: { valid_tasks: 1, invalid_by_reason: { timeout: 1 } } })
  })
})

/** Processes of the run: each names its folder. */
async function processes(): Promise<readonly string[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name))
  const lines = await Promise.all(pids.map((pid) => readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')))
  return lines.filter((line) => line.includes(runFolder))
}

const bubblewrap = execFileSync('sh', ['-c', 'command -v bwrap'], { encoding: 'utf8' }).trim()

test('an attempt that ignores every signal, and whose grandchild holds its output open, is ended with all of its namespace', async () => {
  const { result, reports } = await runFaulty(
    { runFolder, tasks: [{ id: 'stubborn' }, { id: 'well' }], phaseTimeoutsMs: { agent: 500 } },
    {
      parts: {
        attemptCommand: ({ task, attempt_dir: folder }, socket) => {
          const { file, args, ...rest } = programCommand({ programs, runFolder }, 'faulty-attempt.mjs', [task.id === 'well' ? 'valid' : 'stubborn', socket, folder])
          return { ...rest, file: bubblewrap, args: ['--unshare-user', '--unshare-pid', '--die-with-parent', '--new-session', '--dev-bind', '/', '/', '--proc', '/proc', file, ...args] }
        },
      },
    },
  )
  expect(reports('stubborn')).toMatchObject([{ outcome: { kind: 'invalid', reason: 'timeout', phase: 'agent' }, cleanup: 'success' }])
  expect(await readFile(join(runFolder, 'attempts/os/stubborn/1.1/stdout.log'), 'utf8')).toMatch(/^(still here\n)+$/)
  expect(await processes()).toEqual([])
  expect(result.aggregate).toMatchObject({ valid_tasks: 1 })
})

interface Fault {
  readonly title: string
  /** What the attempt itself does. */
  readonly attempt?: string
  readonly parts?: () => NonNullable<RunParts['parts']>
  readonly planFails?: boolean
  readonly before?: () => Promise<void>
  readonly outcome: Readonly<Record<string, unknown>>
}

const faults: readonly Fault[] = [
  {
    title: 'a command that is not there',
    parts: () => ({
      attemptCommand: ({ task, attempt_dir: folder }, socket) => {
        const command = programCommand({ programs, runFolder }, 'faulty-attempt.mjs', ['until-told', socket, folder])
        return task.id === 'bad' ? { ...command, file: join(runFolder, 'not-there') } : command
      },
    }),
    outcome: { kind: 'invalid', reason: 'runner_exit', message: expect.stringMatching(/not-there could not be started: .*ENOENT/) as string },
  },
  {
    title: 'a file in the place of its folder, of which nothing is known',
    before: async () => {
      await mkdir(join(runFolder, 'attempts/os/bad'), { recursive: true })
      await writeFile(join(runFolder, 'attempts/os/bad/1.1'), '')
    },
    outcome: { kind: 'valid', reward: 1 },
  },
  {
    title: "a file in the place of its task's folder",
    before: async () => {
      await mkdir(join(runFolder, 'attempts/os'), { recursive: true })
      await writeFile(join(runFolder, 'attempts/os/bad'), '')
    },
    outcome: { kind: 'invalid', reason: 'worker_lost', message: expect.stringContaining('ENOTDIR') as string },
  },
  {
    title: 'a throw where it is planned',
    planFails: true,
    outcome: { kind: 'invalid', reason: 'worker_lost', message: 'There is no plan for it.' },
  },
  {
    title: 'a throw where its way to the model is opened',
    parts: () => ({
      openModel: ({ task }) => {
        if (task.id === 'bad') throw new Error('There is no key left.')
        return undefined
      },
    }),
    outcome: { kind: 'invalid', reason: 'runner_exit', message: 'There is no key left.' },
  },
  { title: '200 MiB of output', attempt: 'floods-output', outcome: { kind: 'valid', reward: 1 } },
  { title: 'a line without an end', attempt: 'line-without-end', outcome: { kind: 'invalid', reason: 'runner_exit', phase: 'agent', message: 'The attempt wrote a line without an end to its control socket.' } },
  { title: 'endless lines of 1 MiB', attempt: 'long-lines', outcome: { kind: 'invalid', reason: 'runner_exit', phase: 'agent' } },
  { title: 'endless lines of one letter', attempt: 'short-lines', outcome: { kind: 'invalid', reason: 'runner_exit', phase: 'agent', message: 'The attempt wrote a line that is not JSON to its control socket.' } },
  { title: 'endless requests', attempt: 'endless-requests', outcome: { kind: 'invalid', reason: 'runner_exit', phase: 'agent', message: 'The attempt wrote more than 20000 lines to its control socket.' } },
  { title: 'random bytes', attempt: 'random-bytes', outcome: { kind: 'invalid', reason: 'runner_exit', phase: 'agent', message: 'The attempt wrote a line that is not JSON to its control socket.' } },
]

/** The line in the bad attempt's output that says what was cut. */
async function cutMark(): Promise<string | undefined> {
  const text = await readFile(join(runFolder, 'attempts/os/bad/1.1/stdout.log'), 'utf8')
  return /^\[… .+ …\]$/m.exec(text)?.[0]
}

/** The other attempt runs all the time: it ends only when the bad one has. */
describe('beside another attempt, which keeps its score,', () => {
  test.each(faults.map((fault) => [fault.title, fault] as const))('one with %s has an outcome of its own', async (_title, { attempt = 'valid', parts, planFails = false, before, outcome }) => {
    await before?.()
    const { result, reports, ledger } = await runFaulty(
      { runFolder, tasks: [{ id: 'bad', attempts: [attempt] }, { id: 'well', attempts: ['until-told'] }], ...(planFails ? { unplannable: 'bad' } : {}) },
      {
        ...(parts === undefined ? {} : { parts: parts() }),
        onEvent: (event) => {
          if (event.type === 'attempt_ended') writeFileSync(join(runFolder, 'go'), '')
        },
      },
    )
    expect(reports('bad')[0]?.outcome).toMatchObject(outcome)
    expect(reports('well')).toMatchObject([{ outcome: { kind: 'valid', reward: 1 } }])
    expect(result.aggregate.valid_tasks).toBe(outcome.kind === 'valid' ? 2 : 1)
    expect(ledger.at(-1)).toMatchObject({ event: 'RUN_ENDED' })
    if (attempt === 'floods-output') expect(await cutMark()).toBe('[… 142,540,800 bytes cut here …]')
    expect(await processes()).toEqual([])
  })
})
