import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { workspace } from '../workspace.ts'
import { readPackageAgents } from './package-agents.ts'

test('the package has agents by name, Qwen3-VL among them, and says of others why they cannot be run', async () => {
  const agents = await readPackageAgents(join(workspace.profiles, 'package-1.0.2'))
  expect(agents?.names).toContain('qwen3vl')
  for (const why of Object.values(agents?.refused ?? {})) expect(why).not.toMatch(/\.$/)
})

test('a profile that declares no agents has none to check a name by', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'package-agents-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  await writeFile(join(folder, 'adjustments.json'), '{"targets": []}')
  expect(await readPackageAgents(folder)).toBeUndefined()
})
