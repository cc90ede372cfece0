import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readdir, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { makeRunTemporaryFolder } from './index.ts'

test('the folder of an owner that was killed is swept, one of a living owner stays', async () => {
  const parent = await mkdtemp(join(tmpdir(), 'temporary-test-'))
  try {
    await mkdir(join(parent, `osworld-run-${process.pid}-1`))
    await mkdir(join(parent, 'somebody-elses'))
    const mine = await makeRunTemporaryFolder(parent, process.pid)
    expect((await stat(mine.path)).mode & 0o777).toBe(0o700)
    await expect(makeRunTemporaryFolder(parent, process.pid)).rejects.toThrow(/EEXIST/)
    expect((await readdir(parent)).sort()).toEqual([mine.path.slice(parent.length + 1), 'somebody-elses'].sort())
    await mine.remove()
    expect(existsSync(mine.path)).toBe(false)
  } finally {
    await rm(parent, { recursive: true, force: true })
  }
})
