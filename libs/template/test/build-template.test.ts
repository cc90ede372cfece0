import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { buildTemplate, contentName, loadRecipe, type BuildProgress, type BuildTemplateOptions, type BuiltTemplate } from '../src/index.ts'
import { buildId, startScriptedApi, templateId, type Script, type ScriptedApi } from './scripted-api.ts'
import { tinyRecipe, writeTinyLibrary } from './tiny-recipe.ts'

let folder: string
let temporaryFolder: string
let api: ScriptedApi | undefined
let progress: BuildProgress[]

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'build-library-'))
  temporaryFolder = await mkdtemp(join(tmpdir(), 'build-scratch-'))
  progress = []
  await writeTinyLibrary(folder)
})

afterEach(async () => {
  await api?.close()
  expect(await readdir(temporaryFolder)).toEqual([])
  await rm(folder, { recursive: true })
  await rm(temporaryFolder, { recursive: true })
})

/** Waits cost nothing, and each adds its length to the clock. */
function quickClock(): BuildTemplateOptions['clock'] {
  let nowMs = Date.parse('2026-01-01T00:00:00.000Z')
  return {
    now: () => nowMs,
    sleep: async (delayMs, signal) => {
      nowMs += delayMs
      await sleep(1, undefined, { signal })
    },
  }
}

async function build(script: Script, more: Partial<BuildTemplateOptions> = {}): Promise<BuiltTemplate> {
  api = await startScriptedApi(script)
  const recipe = await loadRecipe(folder, 'debian-12')
  return buildTemplate({ recipe, connection: api.connection, temporaryFolder, clock: quickClock(), onProgress: (one) => progress.push(one), ...more })
}

async function name(): Promise<string> {
  const { recipe, files } = await loadRecipe(folder, 'debian-12')
  return contentName(recipe, files)
}

const steps = () => progress.flatMap((one) => (one.kind === 'step' ? [`${one.index}/${one.total} ${one.name}`] : []))
const oldBuild = '99999999-2222-4333-8444-555555555555'

describe('building a template', () => {
  test('gives the reference of the build and a receipt', async () => {
    const built = await build({ polls: [{ status: 'building' }, { status: 'ready' }] })
    expect(built).toMatchObject({ template: `${await name()}:${buildId}`, reused: false })
    expect(built.receipt).toMatchObject({ template: built.template, template_id: templateId, built_at: '2026-01-01T00:00:00.400Z', resources: tinyRecipe.resources, route: 'local', sdk: { name: 'e2b' } })
    expect(built.receipt.content_sha256.slice(0, 16)).toBe(built.template.slice('osworld-gnome-'.length).split(':')[0])
    expect(built.receipt.inputs.map((input) => input.path)).toEqual(['recipe/debian-12.json', 'guest/bin/whoami.sh', 'guest/message.txt'])
  })

  test('tells each step once by its name, as the log reaches it', async () => {
    const lines = [{ step: 'base', message: 'a' }, { step: '1', message: 'b' }, { message: 'of the same step' }, { step: '5', message: 'c' }, { step: 'finalize', message: 'd' }]
    await build({ polls: [{ status: 'building', lines: lines.slice(0, 3) }, { status: 'building', lines: lines.slice(3) }, { status: 'ready' }] })
    expect(steps()).toEqual(['0/7 base system', '1/7 work as root', '5/7 note who runs the copied script', '6/7 start command'])
    expect(progress.flatMap((one) => (one.kind === 'log' ? [one.message] : []))).toEqual(expect.arrayContaining(['a', 'b', 'of the same step', 'c', 'd']))
  })

  test('reads the lines that come after the end was told', async () => {
    await build({ polls: [{ status: 'ready', lines: [{ message: 'first' }] }, { status: 'ready', lines: [{ message: 'last' }] }, { status: 'ready' }] })
    expect(progress).toContainEqual({ kind: 'log', level: 'info', message: 'last' })
  })

  test('survives polls that get no answer', async () => {
    await expect(build({ polls: ['drop', 'drop', { status: 'ready' }] })).resolves.toMatchObject({ reused: false })
  })

  test('names the failing step and repeats its last lines', async () => {
    const lines = [{ step: '1', message: 'copied' }, { step: '4', message: 'cannot create /etc/greeting' }]
    const failing = build({ polls: [{ status: 'error', lines, reason: { step: '4', message: 'exit status 2' } }, { status: 'error', reason: { step: '4', message: 'exit status 2' } }] })
    await expect(failing).rejects.toMatchObject({ code: 'build_failed', message: `The build of ${await name()} failed at step 4 of 6, "greet the world": exit status 2.\nIts last lines were:\n  cannot create /etc/greeting` })
  })

  test('ends at its deadline', async () => {
    const late = build({ polls: [{ status: 'building' }] }, { deadlineMs: 300 })
    await expect(late).rejects.toMatchObject({ code: 'build_deadline', message: expect.stringContaining('did not end within') as string })
  })

  test('ends when it is told to stop, and says how far it came', async () => {
    const controller = new AbortController()
    const onProgress = (one: BuildProgress) => {
      if (one.kind === 'step') controller.abort()
    }
    const stopped = build({ polls: [{ status: 'building', lines: [{ step: 'base', message: 'x' }] }, { status: 'building' }] }, { signal: controller.signal, onProgress })
    await expect(stopped).rejects.toMatchObject({ code: 'build_aborted', message: expect.stringContaining('stopped at "base system"') as string })
  })

  test('repeats what a server said that refuses', async () => {
    await expect(build({ refusal: { status: 401, message: 'this key is not known' } })).rejects.toMatchObject({ code: 'api_failed', message: expect.stringContaining('this key is not known') as string })
  })

  test('says so when no server answers', async () => {
    const gone = await startScriptedApi({})
    await gone.close()
    await expect(build({}, { connection: gone.connection })).rejects.toMatchObject({ code: 'api_failed', message: expect.stringContaining('ECONNREFUSED') as string })
  })
})

describe('a template that is there already', () => {
  test('is used without a build', async () => {
    const built = await build({ existing: { builds: [{ buildId: oldBuild, status: 'ready', at: '2025-05-05T05:05:05Z' }] } })
    expect(built).toMatchObject({ template: `${await name()}:${oldBuild}`, reused: true, receipt: { reused: true, built_at: '2025-05-05T05:05:05.000Z', template_id: templateId } })
    expect(api?.requests.filter((request) => request.startsWith('POST'))).toEqual([])
  })

  test('is its newest ready build', async () => {
    const builds = [
      { buildId: '00000000-2222-4333-8444-555555555555', status: 'ready', at: '2025-01-01T00:00:00Z' },
      { buildId: oldBuild, status: 'ready', at: '2025-02-01T00:00:00Z' },
      { buildId: '88888888-2222-4333-8444-555555555555', status: 'error', at: '2025-03-01T00:00:00Z' },
    ]
    expect((await build({ existing: { builds } })).template).toContain(oldBuild)
  })

  test('is built again when no build of it is ready', async () => {
    const existing = { builds: [{ buildId: oldBuild, status: 'error', at: '2025-05-05T05:05:05Z' }] }
    expect(await build({ existing, polls: [{ status: 'ready' }] })).toMatchObject({ reused: false, template: `${await name()}:${buildId}` })
  })
})
