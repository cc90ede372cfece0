import { existsSync } from 'node:fs'
import { chmod, chown, mkdir, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sha256Hex } from '@osworld-e2b/inventory'
import type { BaseImage } from '../../src/driver.ts'
import type { HostedDriver } from './hosted-driver.ts'
import type { TestAccount } from './test-account.ts'
import { until } from './until.ts'

const longestBuildMs = 280_000

const tinyImage: BaseImage = {
  suite: 'bookworm',
  variant: 'minbase',
  packages: ['procps', 'python3-minimal'],
  aptOptions: ['APT::Install-Recommends false'],
  dpkgOptions: ['path-exclude=/usr/share/doc/*', 'path-exclude=/usr/share/man/*', 'path-exclude=/usr/share/locale/*'],
}

/**
 * A data folder that outlives test runs for the sake of its base image. Its parent has mode 0700, as home folders do, so no
 * other account walks down to it: neither may guest root need to.
 */
export async function testDataFolder(account: TestAccount): Promise<string> {
  const cache = process.env.OSWORLD_TEST_CACHE ?? join(tmpdir(), 'osworld-e2b-test-cache')
  const home = join(cache, `e2b-${account.uid}`)
  const dataFolder = join(home, 'data')
  for (const folder of [cache, home, dataFolder]) await mkdir(folder, { recursive: true })
  if (process.getuid?.() === 0) for (const folder of [home, dataFolder]) await chown(folder, account.uid, account.gid)
  await chmod(home, 0o700)
  return dataFolder
}

/** The tiny base image of these tests, made once for each content, whichever test file comes first. */
export async function tinyBase(driver: HostedDriver): Promise<string> {
  await driver.prepare()
  const target = join(driver.dataFolder, 'bases', sha256Hex(JSON.stringify(tinyImage)).slice(0, 16))
  const lock = `${target}.lock`
  await until('the base image of another test file', async () => existsSync(target) || (await claim(lock)), longestBuildMs)
  try {
    if (!existsSync(target)) await driver.makeBase(tinyImage, target)
    return target
  } finally {
    await rm(lock, { force: true })
  }
}

/** A lock that is older than any build belongs to a run that was killed. */
async function claim(lock: string): Promise<boolean> {
  const age = Date.now() - (await stat(lock).then(({ mtimeMs }) => mtimeMs, () => Date.now()))
  if (age > longestBuildMs) await rm(lock, { force: true })
  return writeFile(lock, '', { flag: 'wx' }).then(() => true, () => false)
}
