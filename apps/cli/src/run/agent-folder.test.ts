import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { UsageError } from '../usage-error.ts'
import { readAgentFolder } from './agent-folder.ts'

async function temporaryFolder(): Promise<string> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'agent-folder-')))
  onTestFinished(() => rm(folder, { recursive: true }))
  return folder
}

test('its digest is of its Python files, wherever the folder lies and whatever else is in it', async () => {
  const folder = await temporaryFolder()
  const [first, second, link] = [join(folder, 'first'), join(folder, 'second'), join(folder, 'link')]
  for (const place of [first, second]) {
    await mkdir(join(place, 'agents'), { recursive: true })
    await writeFile(join(place, 'agents', 'mine.py'), 'class Agent: ...\n')
  }
  await writeFile(join(second, 'notes.txt'), 'other')
  await symlink(second, link)
  const read = await readAgentFolder({ agentFolder: first })
  expect(read).toEqual({ folder: first, sha256: expect.stringMatching(/^[0-9a-f]{64}$/) as string })
  expect(await readAgentFolder({ agentFolder: link })).toEqual({ folder: second, sha256: read?.sha256 })
  await writeFile(join(first, 'agents', 'mine.py'), 'class Agent: pass\n')
  expect((await readAgentFolder({ agentFolder: first }))?.sha256).not.toBe(read?.sha256)
})

test('a folder that is not there, or holds no Python, is refused', async () => {
  const folder = await temporaryFolder()
  await expect(readAgentFolder({ agentFolder: join(folder, 'none') })).rejects.toThrow(new UsageError(`--agent-path: there is no folder ${join(folder, 'none')}; give the one in which the agent's module lies.`))
  await expect(readAgentFolder({ agentFolder: folder })).rejects.toThrow(new UsageError(`--agent-path: ${folder} holds no Python file; give the folder in which the agent's module lies.`))
  expect(await readAgentFolder({ agentFolder: undefined })).toBeUndefined()
})
