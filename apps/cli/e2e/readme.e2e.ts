import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { workspaceRoot } from './osworld.ts'

/** Lines of the README's `sh` blocks; `npm test` is left out, since it is what runs this test. */
const commands = [...readFileSync(join(workspaceRoot, 'README.md'), 'utf8').matchAll(/```sh\n([^`]*)```/g)]
  .flatMap(([, block = '']) => block.trim().split('\n'))
  .filter((line) => line !== 'npm test')

test('the README shows commands to try', () => {
  expect(commands.length).toBeGreaterThanOrEqual(5)
})

test.each(commands)('the README command works as it stands: %s', (command) => {
  const { status, stdout, stderr } = spawnSync('sh', ['-c', command], { cwd: workspaceRoot, encoding: 'utf8' })
  expect(`${stdout}${stderr}\nexit code ${status}`).toMatch(/exit code 0$/)
})
