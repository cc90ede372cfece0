import type { SandboxSummary } from '@osworld-e2b/sandbox'
import type { RunTrace } from '@osworld-e2b/scheduler'
import { describe, expect, test } from 'vitest'
import type { CleaningFacts } from './cleaning-facts.ts'
import { planCleaning } from './plan-cleaning.ts'

const nothing: CleaningFacts = {
  places: { cacheFolder: '/cache', dataFolder: '/data', results: ['/results'] },
  sandboxes: [],
  runs: [],
  temporaryFolders: [],
  scratchFolders: [],
  environments: [],
  checkouts: [],
  currentEnvironments: ['c'],
  dataFolder: undefined,
  currentTemplate: 'osworld-gnome-0123456789abcdef',
}
const run = (more: Partial<RunTrace>): RunTrace => ({ folder: '/results/r', runId: 'r', runUid: 'u', template: undefined, isComplete: false, lock: { kind: 'free' }, ...more })
const sandbox = (metadata: Readonly<Record<string, string>>): SandboxSummary => ({ id: 's', template: 't', metadata, state: 'running', startedAt: new Date(0), endAt: new Date(0) })
const held: RunTrace['lock'] = { kind: 'held', pid: 7 }
const coordinator = (pid: number, isOwnerAlive = true) => ({ path: `/tmp/osworld-run-${pid}-1`, pid, isOwnerAlive })

describe('a sandbox', () => {
  const cases: readonly (readonly [string, Partial<CleaningFacts>, boolean, 'removed' | 'kept', RegExp])[] = [
    ['of a run whose lock is held stays', { runs: [run({ lock: held })] }, false, 'kept', /going on \(process 7\)/],
    ['of a run whose lock is held stays even with --all', { runs: [run({ lock: held })] }, true, 'kept', /going on/],
    ['of a living run of the same name stays, whatever its identity', { runs: [run({ lock: held, runUid: undefined })] }, true, 'kept', /going on/],
    ['of a known run whose owner is gone goes', { runs: [run({})] }, false, 'removed', /no process of its run r lives/],
    ['of an unknown run stays', {}, false, 'kept', /none of the results folders/],
    ['of a run that only has the name of a known one stays', { runs: [run({ runUid: 'other' })] }, false, 'kept', /none of the results folders/],
    ['of an unknown run goes with --all', {}, true, 'removed', /unknown/],
    ['of an unknown run stays with --all while an unknown coordinator lives', { temporaryFolders: [coordinator(9)] }, true, 'kept', /process 9/],
    ['of an unknown run goes with --all when all coordinators are known', { temporaryFolders: [coordinator(7), coordinator(8, false)], runs: [run({ runId: 'x', runUid: 'y', lock: held })] }, true, 'removed', /unknown/],
  ]
  test.each(cases)('%s', (_title, facts, all, fate, reason) => {
    const plan = planCleaning({ ...nothing, ...facts, sandboxes: [sandbox({ workload: 'osworld-e2b', run: 'r', run_uid: 'u' })] }, { all })
    const found = (fate === 'kept' ? plan.kept : plan.removals).filter(({ kind }) => kind === 'sandbox')
    expect(found).toMatchObject([{ name: 's', reason: expect.stringMatching(reason) as string }])
  })

  test('without any metadata of a run is of no known run', () => {
    expect(planCleaning({ ...nothing, runs: [run({ runUid: undefined })], sandboxes: [sandbox({})] }, { all: false }).kept).toHaveLength(1)
  })
})

describe('a Python environment', () => {
  const environment = { digest: 'd', folder: '/cache/python/d', lockFile: '/cache/python/d.lock', isThere: true, isWhole: true, isLocked: false }
  const fate = (facts: Partial<CleaningFacts>) => {
    const plan = planCleaning({ ...nothing, environments: [environment], ...facts }, { all: true })
    return [...plan.removals.map(({ kind }) => `removed ${kind}`), ...plan.kept.map(({ reason }) => reason)].filter((text) => !text.startsWith('the run of'))
  }
  test('of other requirements goes, with its lock file', () => expect(fate({})).toEqual(['removed python_environment']))
  test('of the present requirements stays', () => expect(fate({ currentEnvironments: ['c', 'd'] })).toEqual([]))
  test('that is being made stays', () => expect(fate({ environments: [{ ...environment, isLocked: true }] })).toEqual(['it is being made']))
  test('stays while any run goes on', () => {
    expect(fate({ temporaryFolders: [coordinator(7)] })).toEqual(['a run is going on and may use it'])
    expect(fate({ runs: [run({ lock: held })] })).toEqual(['a run is going on and may use it'])
  })
  test('of the present requirements goes when its maker was ended half-way', () => {
    expect(fate({ currentEnvironments: ['d'], environments: [{ ...environment, isWhole: false }] })).toEqual(['removed half_made'])
  })
})

test('temporary folders go once their owner is gone, or lies idle for longer than it can live', () => {
  const scratch = (idleMs: number) => ({ path: `/tmp/scratch-${idleMs}`, maker: 'a test', idleMs, longestLifeMs: 10 })
  const plan = planCleaning({ ...nothing, temporaryFolders: [coordinator(1), coordinator(2, false)], scratchFolders: [scratch(9), scratch(10)] }, { all: true })
  expect(plan.removals.map(({ name }) => name)).toEqual(['/tmp/osworld-run-2-1', '/tmp/scratch-10'])
  expect(plan.kept.map(({ name }) => name)).toEqual(['/tmp/osworld-run-1-1', '/tmp/scratch-9'])
})

test('a template that an unfinished run needs stays, and goes once that run is complete', () => {
  const old = 'osworld-gnome-aaaaaaaaaaaaaaaa'
  const templates = [nothing.currentTemplate, old].map((name) => ({ name, builds: [{ buildId: 'b', isReady: true, layers: [] }] }))
  const dataFolder = { root: '/data', holder: undefined, templates, parts: [] }
  const plan = (isComplete: boolean) => planCleaning({ ...nothing, dataFolder, runs: [run({ template: `${old}:b`, isComplete })] }, { all: false })
  expect(plan(false).kept).toMatchObject([{ name: old, reason: expect.stringContaining('unfinished run r') as string }])
  expect(plan(true).removals).toMatchObject([{ name: old }])
})

describe('a checkout', () => {
  const checkout = { folder: '/cache/osworld-source/c', lockFile: '/cache/osworld-source/c.lock', profile: undefined }
  const fate = (facts: Partial<CleaningFacts>, all: boolean) => {
    const plan = planCleaning({ ...nothing, checkouts: [checkout], ...facts }, { all })
    return [...plan.removals, ...plan.kept].filter(({ kind }) => kind === 'checkout').map(({ reason }) => `${plan.kept.length > 0 ? 'kept' : 'removed'}: ${reason}`)
  }
  test('of a profile stays even with --all', () => expect(fate({ checkouts: [{ ...checkout, profile: 'current-v1' }] }, true)).toEqual(['kept: the profile current-v1 is made of it']))
  test('of no profile stays unless everything in doubt goes', () => {
    expect(fate({}, false)).toEqual(['kept: no profile of this osworld is made of it, but one of your own may be; give --all'])
    expect(fate({}, true)).toEqual(['removed: no profile of this osworld is made of it'])
  })
  test('stays while any run goes on', () => expect(fate({ runs: [run({ lock: held })] }, true)).toEqual(['kept: a run is going on and may use it']))
})
