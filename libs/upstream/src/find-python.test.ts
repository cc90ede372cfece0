import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { findPython } from './find-python.ts'

let folder: string

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'upstream-'))
})
afterEach(() => rm(folder, { recursive: true, force: true }))

/** A program that answers the question as a Python of that version would. */
async function pythonOf(version: string, canMakeEnvironments = true): Promise<string> {
  const path = join(folder, `python-${version}-${canMakeEnvironments}`)
  const answer = { path, version, basePrefix: '/usr', platform: 'linux-x86_64', canMakeEnvironments }
  await writeFile(path, `#!/bin/sh\necho '${JSON.stringify(answer)}'\n`)
  await chmod(path, 0o755)
  return path
}

const environment = { PATH: process.env['PATH'], HOME: process.env['HOME'] }

describe('findPython', () => {
  it('finds the interpreter of this machine by its usual names', async () => {
    const python = await findPython({ environment })
    expect(python.version).toMatch(/^3\.1[12]\./)
    expect(python.path).toMatch(/^\/.*python3/)
    expect(python.path).not.toContain('shims')
    expect(python.basePrefix).toMatch(/^\//)
  })

  it('takes the first fitting candidate', async () => {
    const candidates = ['no-such-python', await pythonOf('3.13.0'), await pythonOf('3.12.4'), await pythonOf('3.11.2')]
    expect((await findPython({ candidates, environment })).version).toBe('3.12.4')
  })

  it('prefers one that can make environments', async () => {
    const candidates = [await pythonOf('3.12.4', false), await pythonOf('3.11.2')]
    expect((await findPython({ candidates, environment })).version).toBe('3.11.2')
  })

  it('refuses other versions and names what it met', async () => {
    const old = await pythonOf('3.10.12')
    const candidates = ['no-such-python', old, await pythonOf('3.13.1'), '/bin/true']
    await expect(findPython({ candidates, environment })).rejects.toMatchObject({
      code: 'python_not_found',
      message: expect.stringMatching(
        /needs Python 3\.11 or 3\.12, but no-such-python does not start, \S+ is Python 3\.10\.12, \S+ is Python 3\.13\.1, \/bin\/true does not answer like Python; install/,
      ) as string,
    })
  })
})
