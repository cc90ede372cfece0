import { describe, expect, it } from 'vitest'
import type { DataFolderFacts, PartFact } from './data-folder-facts.ts'
import { planDataFolder, type DataFolderPlan } from './plan-data-folder.ts'

const part = (kind: PartFact['kind'], path: string, changedMs = 0): PartFact => ({ kind, paths: [path], changedMs })
const built = (name: string, ...layers: string[]) => ({ name, builds: [{ buildId: 'one', isReady: true, layers }] })

const facts: DataFolderFacts = {
  root: '/data',
  holder: undefined,
  templates: [built('desk-new', 'layers/new', 'bases/both'), built('desk-old', 'layers/old', 'layers/deep', 'bases/both'), built('mine', 'layers/mine', 'bases/mine')],
  parts: [...['new', 'old', 'deep', 'mine'].map((name) => part('layer', `layers/${name}`)), part('base', 'bases/both'), part('base', 'bases/mine')],
}
const policy = { family: 'desk-', current: 'desk-new', wanted: new Map<string, string>(), all: false }

function removed({ removals }: DataFolderPlan): readonly string[] {
  return removals.map(({ name, paths }) => `${name}: ${paths.join(' ')}`)
}

describe('the plan for a data folder', () => {
  it('takes an old template with what it alone stands on, and nothing of other people', () => {
    expect(removed(planDataFolder(facts, policy))).toEqual(['desk-old: layers/old layers/deep'])
  })

  it('gives what two old templates share to one of them', () => {
    const templates = [...facts.templates, built('desk-older', 'layers/deep', 'bases/both')]
    expect(removed(planDataFolder({ ...facts, templates }, policy))).toEqual(['desk-old: layers/old layers/deep', 'desk-older: '])
  })

  it('takes layers and bases that no template stands on', () => {
    const parts = [...facts.parts, part('layer', 'layers/loose'), part('base', 'bases/loose')]
    expect(removed(planDataFolder({ ...facts, parts }, policy))).toEqual(['desk-old: layers/old layers/deep', '/data/layers/loose: layers/loose', '/data/bases/loose: bases/loose'])
  })

  it('keeps everything that a build may go on from while the present template is not built', () => {
    const unbuilt = { ...facts, templates: facts.templates.slice(1) }
    const plan = planDataFolder(unbuilt, policy)
    expect(removed(plan)).toEqual([])
    expect(plan.kept.map(({ name }) => name)).toEqual(['desk-old', '/data/layers/new'])
    expect(removed(planDataFolder(unbuilt, { ...policy, all: true }))).toEqual(['desk-old: layers/old layers/deep bases/both', '/data/layers/new: layers/new'])
  })

  it('keeps a template that an unfinished run needs, with its layers, unless all is asked for', () => {
    const wanted = new Map([['desk-old', 'the run r goes on with it']])
    const plan = planDataFolder(facts, { ...policy, wanted })
    expect(removed(plan)).toEqual([])
    expect(plan.kept).toMatchObject([{ name: 'desk-old', reason: expect.stringMatching(/the run r .*--all/) as string }])
    expect(removed(planDataFolder(facts, { ...policy, wanted, all: true }))).toHaveLength(1)
  })

  it('takes half-made things, folders of dead servers, and all guest programs but the newest', () => {
    const parts = [part('half_made', 'bases/x.partial'), part('sandbox_folder', 'sandboxes/s'), part('runtime', 'runtime/a', 1), part('runtime', 'runtime/b', 3), part('runtime', 'runtime/c', 2)]
    const plan = planDataFolder({ ...facts, templates: facts.templates.slice(0, 1), parts }, policy)
    expect(plan.removals.map(({ name }) => name).sort()).toEqual(['/data/bases/x.partial', '/data/runtime/a', '/data/runtime/c', '/data/sandboxes/s'])
  })

  it('leaves all of it to a server that holds the folder, even when all is asked for', () => {
    const plan = planDataFolder({ ...facts, holder: 4711 }, { ...policy, all: true })
    expect(plan.removals).toEqual([])
    expect(plan.kept).toMatchObject([{ name: 'desk-old', reason: expect.stringContaining('process 4711') as string }])
  })
})
