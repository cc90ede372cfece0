import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { countRequirements } from './requirements.ts'
import { upstreamIdentity } from './upstream-identity.ts'

const one = '1'.repeat(64)
const two = '2'.repeat(64)
let folder: string

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'upstream-'))
})
afterEach(() => rm(folder, { recursive: true, force: true }))

async function identityOf(text: string) {
  const path = join(folder, 'requirements.txt')
  await writeFile(path, text)
  return upstreamIdentity(path)
}

describe('upstreamIdentity', () => {
  it.each([
    ['continued lines', `# desktop-env==9\nnumpy==1 \\\n    --hash=sha256:${two}\ndesktop-env==1.0.2 \\\n    --hash=sha256:${one}\n`],
    ['one line, another spelling of the name, a comment', `Desktop_Env == 1.0.2 --hash=sha256:${one}  # the evaluators\r\n`],
    ['a marker', `desktop-env==1.0.2 ; python_version >= "3.11" --hash=sha256:${one}\n`],
  ])('reads the pin from %s', async (_, text) => {
    expect(await identityOf(text)).toEqual({ name: 'desktop-env', version: '1.0.2', sha256: one })
  })

  it.each([
    ['no pin', `numpy==1 --hash=sha256:${one}`],
    ['a range', `desktop-env>=1.0 --hash=sha256:${one}`],
    ['no hash', 'desktop-env==1.0.2'],
    ['two hashes', `desktop-env==1.0.2 --hash=sha256:${one} --hash=sha256:${two}`],
    ['two pins', `desktop-env==1.0.2 --hash=sha256:${one}\ndesktop-env==1.0.3 --hash=sha256:${two}`],
  ])('refuses %s', async (_, text) => {
    await expect(identityOf(text)).rejects.toMatchObject({ code: 'requirements_unreadable', message: expect.stringContaining('must pin desktop-env once') as string })
  })
})

describe('countRequirements', () => {
  it('counts neither comments nor options', () => {
    expect(countRequirements(`# a\n\n--no-binary x\na==1 \\\n  --hash=sha256:${one}\nb==2 --hash=sha256:${two}\n`)).toBe(2)
  })
})
