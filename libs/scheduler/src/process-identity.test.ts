import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { expect, test } from 'vitest'
import { isProcessAlive, namespaceInit, processStart } from './process-identity.ts'

test('a namespace ends with its first process, even when its number would be used again', async () => {
  const outer = spawn('unshare', ['--user', '--map-root-user', '--pid', '--fork', '--kill-child', 'sh', '-c', 'echo up; sleep 60 & wait'])
  const exited = once(outer, 'exit')
  await once(outer.stdout, 'data')
  const init = await namespaceInit(outer.pid ?? 0)
  if (init === undefined) throw new Error('unshare has no child in another pid namespace')
  expect(await isProcessAlive(init)).toBe(true)
  expect(await isProcessAlive({ ...init, start: '1' })).toBe(false)
  process.kill(init.pid, 'SIGKILL')
  await exited
  expect(await isProcessAlive(init)).toBe(false)
})

test('a process that was never there has no start', async () => {
  expect(await processStart(2 ** 22 + 1)).toBeUndefined()
})
