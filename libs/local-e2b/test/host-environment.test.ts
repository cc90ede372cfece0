import { execFileSync } from 'node:child_process'
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir, userInfo } from 'node:os'
import { delimiter, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createNamespaceDriver, probeMachine } from '../src/index.ts'

const wrapped = ['unshare', 'nsenter', 'ldd', 'newuidmap', 'newgidmap']

const setByShells = ['PWD', 'SHLVL', '_']

let folder: string
let seen: string

/** Programs that write down what they were given before the real ones take over; `mmdebstrap` only fails. */
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'e2b-env-'))
  seen = join(folder, 'seen')
  await mkdir(join(folder, 'bin'))
  await mkdir(seen)
  for (const name of wrapped) await writeProgram(name, `exec ${realFile(name)} "$@"`)
  await writeProgram('mmdebstrap', 'exit 1')
  await writeFile(join(folder, 'agent.cjs'), '')
  // Guest root is another account of this machine.
  for (const [name, mode] of [['.', 0o755], ['bin', 0o755], ['seen', 0o777]] as const) await chmod(join(folder, name), mode)
})

afterEach(() => rm(folder, { recursive: true, force: true }))

function realFile(name: string): string {
  return execFileSync('sh', ['-c', 'command -v "$1" || command -v false', 'sh', name]).toString().trim()
}

async function writeProgram(name: string, then: string): Promise<void> {
  await writeFile(join(folder, 'bin', name), `#!/bin/sh\ntr '\\0' '\\n' < /proc/$$/environ > ${seen}/${name}.$$\n${then}\n`, { mode: 0o755 })
}

const environment = () => ({
  PATH: [join(folder, 'bin'), process.env.PATH ?? ''].join(delimiter),
  LANG: 'C.UTF-8',
  HOME: '/nowhere',
  https_proxy: 'http://127.0.0.1:9',
  SSL_CERT_FILE: '/nowhere.pem',
  MODEL_KEY: 'secret',
})

/** By program, the different sets of names that its processes were given. */
async function namesSeen(): Promise<Record<string, string[]>> {
  const found: Record<string, Set<string>> = {}
  for (const file of await readdir(seen)) {
    const lines = (await readFile(join(seen, file), 'utf8')).split('\n').filter((line) => line !== '')
    const names = lines.map((line) => line.split('=')[0] ?? '').filter((name) => !setByShells.includes(name))
    ;(found[file.split('.')[0] ?? ''] ??= new Set()).add(names.sort().join(' '))
  }
  return Object.fromEntries(Object.entries(found).map(([program, sets]) => [program, [...sets].sort()]))
}

describe('programs of this machine', () => {
  it('get from the server only what they need, and no key', async () => {
    const { uid, gid, username } = userInfo()
    const driver = createNamespaceDriver({
      dataFolder: join(folder, 'data'),
      agentFile: join(folder, 'agent.cjs'),
      nodeFile: process.execPath,
      account: { uid, gid, name: username },
      pid: process.pid,
      environment: environment(),
      hostNetwork: { environment: {}, files: {} },
      log: () => undefined,
    })
    const image = { suite: 'bookworm', variant: 'minbase', packages: [], aptOptions: [], dpkgOptions: [] }
    await expect(driver.makeBase(image, join(folder, 'data/bases/none'), () => undefined)).rejects.toMatchObject({ code: 'build_failed' })
    await driver.close()
    const [few, more] = ['LANG PATH', 'HOME LANG PATH SSL_CERT_FILE https_proxy']
    // The two in the middle also stand in front of mmdebstrap.
    expect(await namesSeen()).toMatchObject({ ldd: [few], nsenter: [more, few], unshare: [more, few], mmdebstrap: [more] })
  })

  it('that are only tried get no key either', async () => {
    await probeMachine({ platform: 'linux', kernelRelease: execFileSync('uname', ['-r']).toString(), account: { ...userInfo(), name: userInfo().username }, environment: environment(), temporaryFolder: tmpdir() })
    expect((await namesSeen()).unshare).toEqual(['LANG PATH'])
  })
})
