import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buildReceiptSchema } from '@osworld-e2b/contracts'
import { execa } from 'execa'
import { afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { apiKey, buildId, startTinyApi, type TinyApi } from './api.ts'
import { bundleProgram, programFile, runProgram, type ProgramRun } from './program.ts'
import { writeTinyLibrary } from './tiny-library.ts'

let folder: string
let api: TinyApi

beforeAll(bundleProgram)

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'template-builder-'))
  await writeTinyLibrary(join(folder, 'library'))
  api = await startTinyApi()
})

afterEach(async () => {
  await api.close()
  await rm(folder, { recursive: true, force: true })
})

const environment = () => ({ E2B_API_KEY: apiKey, E2B_API_URL: api.url, E2B_SANDBOX_URL: api.url })

function run(...more: readonly string[]): Promise<ProgramRun> {
  return runProgram(['build', '--library', 'library', '--route', 'e2b-compatible', ...more], { cwd: folder, environment: environment() })
}

describe('template-builder build', () => {
  test('prints one line on standard output: the reference', async () => {
    const { exitCode, stdout } = await run()
    expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: expect.stringMatching(new RegExp(`^osworld-gnome-[0-9a-f]{16}:${buildId}\\n$`)) as string })
  })

  test('writes a receipt under the name of the template', async () => {
    const { stdout } = await run()
    const [file, ...others] = await readdir(join(folder, 'results/templates'))
    expect([file, ...others]).toEqual([`${stdout.split(':')[0] ?? ''}.json`])
    const receipt = buildReceiptSchema.parse(JSON.parse(await readFile(join(folder, 'results/templates', file ?? ''), 'utf8')))
    expect(receipt).toMatchObject({ template: stdout.trim(), route: 'e2b-compatible', reused: false })
  })

  test('gives the same line again for a template that is there, and keeps the receipt of its build', async () => {
    const first = await run('--receipt', 'receipt.json')
    const receipt = await readFile(join(folder, 'receipt.json'), 'utf8')
    const second = await run('--receipt', 'receipt.json')
    expect(second).toMatchObject({ exitCode: 0, stdout: first.stdout, stderr: expect.stringContaining('was there already') as string })
    expect(await readFile(join(folder, 'receipt.json'), 'utf8')).toBe(receipt)
  })

  test('prints one line of JSON when asked to', async () => {
    const { stdout } = await run('--json', '--receipt', 'deep/er/receipt.json')
    expect(stdout.match(/\n/g)).toHaveLength(1)
    expect(JSON.parse(stdout)).toMatchObject({ template: expect.stringContaining(buildId) as string, template_id: 'tpl', reused: false, receipt: join(folder, 'deep/er/receipt.json') })
  })

  test('fails with 1, an empty standard output and the name of the failing step', async () => {
    api.outcome = 'error'
    expect(await run()).toMatchObject({ exitCode: 1, stdout: '', stderr: expect.stringMatching(/"greet the world": exit status 7/) as string })
    await expect(readdir(join(folder, 'results'))).rejects.toThrow('ENOENT')
  })

  test('fails with 1 when the build does not end in time', async () => {
    api.outcome = 'building'
    expect(await run('--deadline-seconds', '1')).toMatchObject({ exitCode: 1, stdout: '', stderr: expect.stringContaining('did not end within 1 s') as string })
  })

  test('ends with 130 when it is interrupted', async () => {
    api.outcome = 'building'
    const child = execa(process.execPath, [programFile, 'build', '--library', 'library', '--route', 'e2b-compatible'], { cwd: folder, env: environment(), reject: false })
    await api.asked
    child.kill('SIGINT')
    expect(await child).toMatchObject({ exitCode: 130, stdout: '' })
  })

  test('sends the key and never prints it', async () => {
    const { stdout, stderr } = await run('--verbose')
    expect([...api.keys]).toEqual([apiKey])
    expect(stdout + stderr).not.toContain(apiKey)
  })
})

describe('a command line that cannot be carried out', () => {
  test.each<readonly [string, readonly string[], RegExp]>([
    ['no command', [], /Usage/],
    ['an unknown option', ['build', '--variants', 'x'], /variants/],
    ['an unknown variant', ['build', '--variant', 'plan9'], /plan9.*debian-12/],
    ['a variant without a recipe', ['build', '--library', 'library', '--variant', 'ubuntu-22.04'], /ubuntu-22\.04/],
    ['an unknown route', ['build', '--route', 'moon'], /moon.*local/],
    ['a deadline of no time', ['build', '--deadline-seconds', '0'], /deadline-seconds/],
    ['E2B without a key', ['build', '--library', 'library', '--route', 'e2b'], /E2B_API_KEY/],
    ['a stray argument', ['build', 'debian-12'], /argument/],
  ])('ends with 2 and a reason: %s', async (_what, commandLine, reason) => {
    expect(await runProgram(commandLine, { cwd: folder })).toMatchObject({ exitCode: 2, stdout: '', stderr: expect.stringMatching(reason) as string })
  })
})
