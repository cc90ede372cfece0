import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { sha256Hex } from '@osworld-e2b/inventory'
import { loadScript } from './load-script.ts'
import { loadTasks } from './load-tasks.ts'

let folder: string

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'upstream-'))
})
afterEach(() => rm(folder, { recursive: true, force: true }))

async function put(path: string, content: unknown): Promise<string> {
  const text = typeof content === 'string' ? content : JSON.stringify(content)
  await mkdir(dirname(join(folder, path)), { recursive: true })
  await writeFile(join(folder, path), text)
  return text
}

function task(id: string, more: object = {}): object {
  return { id, instruction: 'Do it.', evaluator: { func: 'exact_match' }, snapshot: 'x', ...more }
}

const ids = ['bb5e4c0d-f964', 'bb5e4c0d-0000', '06fe7178-4491']

async function putOsworld(prefix: string): Promise<void> {
  for (const id of ids) await put(`${prefix}chrome/${id}.json`, task(id))
  await put(`${prefix}os/06aa-1.json`, task('06aa-1', { proxy: true }))
}

async function names(selection: string[] = []): Promise<string[]> {
  return (await loadTasks({ tasksDir: folder, selection })).tasks.map(({ key }) => `${key.domain}/${key.id}`)
}

describe('loadTasks', () => {
  it.each(['evaluation_examples/examples/', 'examples/', ''])('lists tasks below "%s" by name when there is no manifest', async (prefix) => {
    await putOsworld(prefix)
    await put(`${prefix}chrome/notes.txt`, 'no task')
    expect(await names()).toEqual(['chrome/06fe7178-4491', 'chrome/bb5e4c0d-0000', 'chrome/bb5e4c0d-f964', 'os/06aa-1'])
  })

  it('keeps the order and membership of the manifest', async () => {
    await putOsworld('evaluation_examples/examples/')
    await put('evaluation_examples/test_all.json', { os: ['06aa-1'], chrome: ['bb5e4c0d-f964', '06fe7178-4491'] })
    const { source, tasks } = await loadTasks({ tasksDir: folder })
    expect(tasks.map(({ key }) => key.id)).toEqual(['06aa-1', 'bb5e4c0d-f964', '06fe7178-4491'])
    expect(source).toEqual({ kind: 'osworld', name: 'test_all', folder: join(folder, 'evaluation_examples') })
  })

  it.each(['', 'suite.json'])('reads a suite of ours, named by folder or file (%s)', async (end) => {
    await put('suite.json', { schema_version: 1, name: 'starter', description: 'd', tasks: [{ domain: 'os', id: 'two' }, { domain: 'os', id: 'one' }] })
    const bytes = await put('tasks/os/one.json', task('one'))
    await put('tasks/os/two.json', task('two'))
    const { source, tasks } = await loadTasks({ tasksDir: join(folder, end) })
    expect(source).toEqual({ kind: 'suite', name: 'starter', folder })
    expect(tasks.map(({ key }) => key.id)).toEqual(['two', 'one'])
    expect(tasks[1]).toMatchObject({ file: join(folder, 'tasks/os/one.json'), sha256: sha256Hex(bytes), proxy: false, task: { snapshot: 'x' } })
  })

  it('selects by whole name, by a beginning of the id with or without its domain, each task once and in the order asked', async () => {
    await putOsworld('')
    expect(await names(['os/06aa-1', 'chrome/06', 'bb5e4c0d-f', '06aa'])).toEqual(['os/06aa-1', 'chrome/06fe7178-4491', 'chrome/bb5e4c0d-f964'])
  })

  it('takes a whole id before a longer one that begins with it', async () => {
    await put('os/one.json', task('one'))
    await put('os/one-more.json', task('one-more'))
    expect(await names(['one'])).toEqual(['os/one'])
  })

  it.each([
    ['06', 'task_ambiguous', '"06" fits 2 tasks: chrome/06fe7178-4491, os/06aa-1; write more of the id.'],
    ['chrome/bb5e4c0d-f965', 'task_unknown', 'No task is called "chrome/bb5e4c0d-f965"; the nearest of 4 are chrome/bb5e4c0d-f964'],
    ['06fe7187', 'task_unknown', 'are chrome/06fe7178-4491,'],
    ['chrome/', 'task_unknown', 'No task is called "chrome/"'],
    ['', 'task_unknown', 'No task is called ""'],
  ])('refuses the selection "%s" as %s', async (pattern, code, sentence) => {
    await putOsworld('')
    await expect(names([pattern])).rejects.toMatchObject({ code, message: expect.stringContaining(sentence) as string })
  })

  it('does not read tasks that are not selected', async () => {
    await putOsworld('')
    await put('os/broken.json', '{')
    expect(await names(['06aa'])).toEqual(['os/06aa-1'])
  })

  it.each([
    ['no JSON', '{', 'it is not JSON'],
    ['a byte order mark', '\ufeff{}', 'it is not JSON'],
    ['no evaluator', JSON.stringify({ id: 'bad', instruction: 'x' }), 'evaluator'],
    ['another id', JSON.stringify(task('other')), 'calls itself "other"'],
  ])('refuses a task file with %s by a sentence with its name', async (_, content, reason) => {
    await put('os/bad.json', content)
    const refusal = expect.stringMatching(new RegExp(`^The task file ${join(folder, 'os/bad.json')} .*${reason}`)) as string
    await expect(names()).rejects.toMatchObject({ code: 'task_malformed', message: refusal })
  })

  it('refuses a task file that is not UTF-8', async () => {
    await put('os/bad.json', '')
    await writeFile(join(folder, 'os/bad.json'), Buffer.of(0x7b, 0xff, 0x7d))
    await expect(names()).rejects.toMatchObject({ code: 'task_malformed', message: expect.stringContaining('not UTF-8') as string })
  })

  it('refuses a manifest whose names would leave the folder', async () => {
    await put('examples/os/one.json', task('one'))
    await put('test_all.json', { os: ['../../one'] })
    await expect(names()).rejects.toMatchObject({ code: 'task_malformed', message: expect.stringContaining('plain file name') as string })
  })

  it('names a task that the manifest has and the folder lacks', async () => {
    await put('examples/os/one.json', task('one'))
    await put('test_all.json', { os: ['one', 'two'] })
    await expect(names()).rejects.toMatchObject({ code: 'tasks_not_found', message: expect.stringContaining('os/two has no file') as string })
  })

  it('says what a folder without tasks lacks', async () => {
    await expect(names()).rejects.toMatchObject({ code: 'tasks_not_found', message: expect.stringContaining('it needs suite.json') as string })
    await expect(loadTasks({ tasksDir: join(folder, 'absent') })).rejects.toMatchObject({ code: 'tasks_not_found' })
  })

  it.each([
    [true, true], [false, false], [1, true], [0, false], ['false', true], ['', false], [null, false], [[], false], [{}, false], [[0], true], [{ a: 0 }, true],
  ])('reads the proxy flag %j as Python would: %s', async (proxy, expected) => {
    await put('os/one.json', task('one', { proxy }))
    expect((await loadTasks({ tasksDir: folder })).tasks[0]?.proxy).toBe(expected)
  })
})

describe('loadScript', () => {
  const script = { schema_version: 1, task: { domain: 'os', id: 'one' }, actions: ['WAIT', { wait_seconds: 1 }, 'DONE'] }

  it('reads a script for its task', async () => {
    await put('s.json', script)
    expect((await loadScript(join(folder, 's.json'), script.task)).actions).toHaveLength(3)
  })

  it.each([
    ['malformed', { ...script, actions: [] }, 'actions'],
    ['for another task', script, 'is for os/one, not for os/two'],
  ])('refuses a script that is %s', async (_, content, reason) => {
    await put('s.json', content)
    const loading = loadScript(join(folder, 's.json'), { domain: 'os', id: 'two' })
    await expect(loading).rejects.toMatchObject({ code: 'script_malformed', message: expect.stringContaining(reason) as string })
  })

  it('names a script that is not there', async () => {
    await expect(loadScript(join(folder, 'none.json'))).rejects.toMatchObject({ message: expect.stringContaining('There is no script') as string })
  })
})
