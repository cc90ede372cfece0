import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { access, chmod, mkdtemp, readdir, rm, unlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { execa } from 'execa'
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { buildProgram } from './build-program.ts'
import { ensurePythonEnvironment, findPython, type EnvironmentProgress, type Python } from '../src/index.ts'

const fixtures = join(import.meta.dirname, 'fixtures')
const requirementsFile = join(fixtures, 'six.txt')

let cacheFolder: string
let python: Python
let maker: string

beforeAll(async () => {
  python = await findPython({ environment: process.env })
  maker = await buildProgram('ensure-environment')
})
beforeEach(async () => {
  cacheFolder = await mkdtemp(join(tmpdir(), 'upstream-'))
})
afterEach(() => rm(cacheFolder, { recursive: true, force: true }))

function ensure(onProgress: (progress: EnvironmentProgress) => void = () => undefined, signal?: AbortSignal) {
  return ensurePythonEnvironment({ cacheFolder, python, requirementsFile, environment: process.env, onProgress, ...(signal === undefined ? {} : { signal }) })
}

async function sixVersion(interpreter: string): Promise<string> {
  return (await execa(interpreter, ['-I', '-c', 'import six; print(six.__version__, six.__file__)'])).stdout
}

describe('ensurePythonEnvironment', { timeout: 240_000 }, () => {
  it('makes the environment once, with exactly what is hashed, and again when its Python is gone, unless it is told to stop', async () => {
    const steps: string[] = []
    const made = await ensure(({ step, text }) => steps.push(`${step}: ${text}`))
    expect(await sixVersion(made.python)).toBe(`1.16.0 ${join(made.sitePackages, 'six.py')}`)
    expect(made.folder).toBe(join(cacheFolder, 'python', made.digest))
    expect(made.basePrefix).toBe(python.basePrefix)
    expect(steps).toEqual([`create: Python ${python.version}`, 'install: six==1.16.0 (1 of 1)', 'install: unpacking 1 packages'])

    const again = await ensure(({ step }) => steps.push(step))
    expect(again).toEqual(made)
    expect(steps).toHaveLength(3)

    // The interpreter is a link into a Python that may be removed.
    await unlink(made.python)
    const stop = new AbortController()
    await expect(ensure(() => stop.abort(), stop.signal)).rejects.toMatchObject({ code: 'interrupted' })
    await expect(access(join(made.folder, 'complete.json'))).rejects.toMatchObject({ code: 'ENOENT' })
  })

  it('makes an environment again whose maker was killed half-way', async () => {
    const killed = spawn(process.execPath, [maker, cacheFolder, requirementsFile], { stdio: ['ignore', 'pipe', 'inherit'] })
    const ended = once(killed, 'exit')
    for await (const line of createInterface(killed.stdout)) if (line === 'install') killed.kill('SIGKILL')
    expect(await ended).toEqual([null, 'SIGKILL'])
    const [digest] = (await readdir(join(cacheFolder, 'python'))).filter((name) => !name.endsWith('.lock'))
    await writeFile(join(cacheFolder, 'python', digest ?? '', 'left-over'), '')

    const made = await ensure()
    expect(made.digest).toBe(digest)
    expect(await sixVersion(made.python)).toContain('1.16.0')
    expect(await readdir(made.folder)).not.toContain('left-over')
  })

  it('lets a second maker wait for the first, in the same process and in another', async () => {
    const steps: string[][] = [[], []]
    const other = execa(process.execPath, [maker, cacheFolder, requirementsFile])
    const mine = [ensure(({ step }) => steps[0]?.push(step)), ensure(({ step }) => steps[1]?.push(step))] as const
    const [first, second, { stdout }] = await Promise.all([...mine, other] as const)
    expect(first).toEqual(second)
    expect(stdout.split('\n').at(-1)).toBe(`done ${first.python}`)
    const all = [...steps, stdout.split('\n').slice(0, -1)]
    expect(all.filter((own) => own.includes('create'))).toHaveLength(1)
    expect(all.filter((own) => own.includes('wait'))).toHaveLength(2)
  })

  it('refuses a file whose hash differs, with what pip said', async () => {
    const wrong = join(cacheFolder, 'wrong.txt')
    await writeFile(wrong, `six==1.16.0 --hash=sha256:${'0'.repeat(64)}\n`)
    const making = ensurePythonEnvironment({ cacheFolder, python, requirementsFile: wrong, environment: process.env })
    await expect(making).rejects.toMatchObject({ code: 'install_failed', message: expect.stringContaining('DO NOT MATCH THE HASHES') as string })
  })

  it('gives pip the settings of the package index and nothing else of the environment', async () => {
    const spy = join(cacheFolder, 'python-spy')
    await writeFile(spy, `#!/bin/sh\n/usr/bin/env > '${cacheFolder}/seen'\nexit 3\n`)
    await chmod(spy, 0o755)
    // The lock's helper runs with an empty environment and must work, so the spy stands in after it.
    const script = `#!/bin/sh\ncase "$*" in *fcntl*) exec '${python.path}' "$@";; *) exec '${spy}' "$@";; esac\n`
    const front = join(cacheFolder, 'python-front')
    await writeFile(front, script)
    await chmod(front, 0o755)
    const environment = { PATH: '/usr/bin:/bin', HOME: '/nowhere', PIP_INDEX_URL: 'http://127.0.0.1:9/', https_proxy: 'http://127.0.0.1:9', PIP_TARGET: '/tmp', E2B_API_KEY: 'k' }
    const making = ensurePythonEnvironment({ cacheFolder, python: { ...python, path: front }, requirementsFile, environment })
    await expect(making).rejects.toMatchObject({ code: 'install_failed' })
    const { stdout } = await execa('cat', [join(cacheFolder, 'seen')])
    const names = stdout.split('\n').map((line) => line.split('=')[0])
    expect(names.filter((name) => !['PWD', 'OLDPWD', 'SHLVL', '_'].includes(name ?? '')).sort()).toEqual(['HOME', 'PATH', 'PIP_INDEX_URL', 'https_proxy'])
  })

  it('names the Debian package when venv is missing', async () => {
    const bare = { ...python, version: '3.11.2', canMakeEnvironments: false }
    const making = ensurePythonEnvironment({ cacheFolder, python: bare, requirementsFile, environment: {} })
    await expect(making).rejects.toMatchObject({ code: 'python_cannot_make_environments', message: expect.stringContaining('apt-get install python3.11-venv') as string })
  })

  it('names a requirements file that is not there', async () => {
    const making = ensurePythonEnvironment({ cacheFolder, python, requirementsFile: '/no/such.txt', environment: {} })
    await expect(making).rejects.toMatchObject({ code: 'requirements_unreadable', message: expect.stringContaining('/no/such.txt') as string })
  })
})
