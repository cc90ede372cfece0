import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, onTestFinished, test } from 'vitest'
import { type EnvironmentFact, findPython, findPythonEnvironment, readEnvironments, removeEnvironment } from './index.ts'

const digest = 'a'.repeat(64)
const { path: python } = await findPython({ environment: process.env })

let cacheFolder: string
let folder: string
beforeEach(async () => {
  cacheFolder = await mkdtemp(join(tmpdir(), 'upstream-'))
  folder = join(cacheFolder, 'python', digest)
  await mkdir(join(folder, 'bin'), { recursive: true })
  await writeFile(`${folder}.lock`, '')
})
afterEach(() => rm(cacheFolder, { recursive: true, force: true }))

const read = () => readEnvironments({ cacheFolder, python })

async function only(): Promise<EnvironmentFact> {
  const [fact] = await read()
  if (fact === undefined) throw new Error('there is no environment')
  return fact
}

/** A process that holds the lock as a maker of the environment does. */
async function holdLock(): Promise<ChildProcess> {
  const script = 'import fcntl, sys, time\nfile = open(sys.argv[1], "a")\nfcntl.flock(file, fcntl.LOCK_EX)\nprint("held", flush=True)\ntime.sleep(1000)'
  const holder = spawn(python, ['-I', '-c', script, `${folder}.lock`], { stdio: ['ignore', 'pipe', 'inherit'] })
  onTestFinished(() => void holder.kill('SIGKILL'))
  await once(holder.stdout, 'data')
  return holder
}

async function finish(): Promise<void> {
  await symlink(python, join(folder, 'bin', 'python'))
  const marker = { schema_version: 1, digest, python_version: '3.11.7', base_prefix: '/usr', site_packages: join(folder, 'lib') }
  await writeFile(join(folder, 'complete.json'), JSON.stringify(marker))
}

test('tells a whole environment from a half-made one, and looking changes nothing', async () => {
  expect(await only()).toMatchObject({ digest, folder, isThere: true, isWhole: false, isLocked: false })
  await finish()
  await rm(`${folder}.lock`)
  expect(await only()).toMatchObject({ isWhole: true, isLocked: false })
  expect(await readdir(join(cacheFolder, 'python'))).toEqual([digest])
})

test('an environment that a living process makes is locked and is not removed; once that process is gone it is', async () => {
  const holder = await holdLock()
  const fact = await only()
  expect(fact.isLocked).toBe(true)
  expect(await removeEnvironment(fact, python)).toBe(false)
  expect(existsSync(join(folder, 'bin'))).toBe(true)
  holder.kill('SIGKILL')
  await once(holder, 'exit')
  expect((await only()).isLocked).toBe(false)
  expect(await removeEnvironment(fact, python)).toBe(true)
  expect(await readdir(join(cacheFolder, 'python'))).toEqual([])
})

test('removing an environment removes the links in it and not what they lead to', async () => {
  await finish()
  await mkdir(join(cacheFolder, 'precious'))
  await writeFile(join(cacheFolder, 'precious', 'file'), 'keep me')
  await symlink(join(cacheFolder, 'precious'), join(folder, 'lib64'))
  expect(await removeEnvironment(await only(), python)).toBe(true)
  expect(await readFile(join(cacheFolder, 'precious', 'file'), 'utf8')).toBe('keep me')
  expect(existsSync(python)).toBe(true)
})

test('a lock file alone is found and a link in place of an environment is not', async () => {
  await rm(folder, { recursive: true })
  expect(await only()).toMatchObject({ isThere: false, isWhole: false })
  await mkdir(join(cacheFolder, 'elsewhere'))
  await symlink(join(cacheFolder, 'elsewhere'), folder)
  expect(await read()).toEqual([])
  await rm(join(cacheFolder, 'python'), { recursive: true })
  expect(await read()).toEqual([])
})

test('the environment of requirements is named without being made', async () => {
  const requirementsFile = join(cacheFolder, 'requirements.txt')
  await writeFile(requirementsFile, `six==1.16.0 --hash=sha256:${'b'.repeat(64)}\n`)
  const found = await findPythonEnvironment({ cacheFolder, python: await findPython({ environment: process.env }), requirementsFile })
  expect(found).toMatchObject({ isMade: false, folder: join(cacheFolder, 'python', found.digest) })
  expect(existsSync(found.folder)).toBe(false)
})
