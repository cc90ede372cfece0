import { existsSync } from 'node:fs'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { attachLocalE2b, type AttachedLocalE2b } from '@osworld-e2b/local-e2b'
import { buildReceiptSchema } from '@osworld-e2b/contracts'
import { Sandbox } from 'e2b'
import { execa } from 'execa'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { bundleProgram, runProgram, type ProgramRun } from './program.ts'
import { tinyRecipe, writeTinyLibrary } from './tiny-library.ts'

// Compiled before these tests by the test target of this project.
const serverProgram = fileURLToPath(new URL('../../local-e2b-bin/dist/main.js', import.meta.url))

let folder: string
let dataFolder: string
let first: ProgramRun
let server: AttachedLocalE2b

function run(...more: readonly string[]): Promise<ProgramRun> {
  return runProgram(['build', '--library', 'library', '--data', dataFolder, ...more], { cwd: folder })
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'local-build-'))
  dataFolder = join(folder, 'data')
  await bundleProgram()
  await writeTinyLibrary(join(folder, 'library'))
  first = await run('--receipt', 'first.json')
  server = await attachLocalE2b({ dataFolder, serverCommand: [process.execPath, serverProgram, 'serve', '--data', dataFolder, '--die-with-parent'], environment: { PATH: process.env['PATH'] ?? '', HOME: folder } })
}, 300_000)

afterAll(async () => {
  await server.close()
  // Files of layers belong to mapped ids, which an ordinary user reaches only inside the same map.
  const isRoot = process.getuid?.() === 0
  if (isRoot) await rm(folder, { recursive: true, force: true })
  else await execa('unshare', ['--user', '--map-root-user', '--map-auto', 'rm', '-rf', folder])
}, 60_000)

describe('a build on a local server', () => {
  test('starts a server of its own when none runs, builds, and takes it down again', () => {
    expect(first).toMatchObject({ exitCode: 0, stdout: expect.stringMatching(/^osworld-gnome-[0-9a-f]{16}:[0-9a-f-]{36}\n$/) as string })
    expect(first.stderr).toContain('starting the local E2B server')
    expect(server.started).toBe(true)
  })

  test('tells its steps by name and the time of the long ones', () => {
    expect(first.stderr).toMatch(/^\[1\/7\] base system: (\d+ min )?\d+ s$/m)
    expect(first.stderr).toMatch(/^\[5\/7\] greet the world$/m)
  })

  test('leaves a valid receipt', async () => {
    const receipt = buildReceiptSchema.parse(JSON.parse(await readFile(join(folder, 'first.json'), 'utf8')))
    expect(receipt).toMatchObject({ template: first.stdout.trim(), route: 'local', reused: false })
  })

  test('is found again, and the running server is used and left alone', async () => {
    const second = await run()
    expect(second).toMatchObject({ exitCode: 0, stdout: first.stdout, stderr: expect.stringContaining('was there already') as string })
    expect(existsSync(join(dataFolder, 'server.json'))).toBe(true)
  })

  test('gives sandboxes that hold the copied files, the work of the steps and the start command', async () => {
    const { api_key: apiKey, api_url: apiUrl = '', sandbox_url: sandboxUrl = '' } = server.connection
    const sandbox = await Sandbox.create(first.stdout.trim(), { apiKey, apiUrl, sandboxUrl, timeoutMs: 60_000 })
    try {
      const look = await sandbox.commands.run('cat /opt/tiny/message.txt /etc/greeting /opt/tiny/who; stat -c "%a %U" /opt/tiny/message.txt /opt/tiny/bin/whoami.sh; id -un; pwd; pgrep -x sleep >/dev/null && echo started')
      expect(look.stdout.trim().split('\n')).toEqual(['hello', 'hello', 'root', '644 root', '755 root', 'root', '/', 'started'])
    } finally {
      await sandbox.kill()
    }
  })

  test('fails with the name of the step that failed and what it wrote', async () => {
    const steps = [{ name: 'break on purpose', run: 'echo "no such thing" >&2; exit 7', user: 'root' }]
    await writeTinyLibrary(join(folder, 'library'), { ...tinyRecipe, steps })
    const failed = await run()
    expect(failed).toMatchObject({ exitCode: 1, stdout: '' })
    expect(failed.stderr).toMatch(/failed at step 4 of 5, "break on purpose"[^]*no such thing/)
  })
})
