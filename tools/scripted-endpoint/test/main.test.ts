import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, expect, test } from 'vitest'

const main = fileURLToPath(new URL('../dist/main.js', import.meta.url))
let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'scripted-endpoint-'))
})
afterEach(() => rm(folder, { recursive: true }))

function start(args: readonly string[]) {
  const child = spawn(process.execPath, [main, ...args], { stdio: ['ignore', 'pipe', 'pipe'], env: {} })
  return { child, lines: createInterface({ input: child.stdout })[Symbol.asyncIterator](), closed: once(child, 'close') }
}

async function nextJson(lines: AsyncIterator<string>): Promise<Record<string, unknown>> {
  return JSON.parse(String((await lines.next()).value)) as Record<string, unknown>
}

test('the program says where it listens, then each call, and ends at a signal', async () => {
  const script = join(folder, 'script.json')
  await writeFile(script, JSON.stringify({ schema_version: 1, tasks: [{ match: 'bread', steps: [{ text: 'Bought.' }] }] }))
  const { child, lines, closed } = start(['--script', script, '--json'])
  const listening = await nextJson(lines)
  expect(listening).toMatchObject({ type: 'listening', url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/) as string, openai_base_url: `${String(listening['url'])}/v1` })
  const answer = await fetch(`${String(listening['openai_base_url'])}/chat/completions`, { method: 'POST', headers: { authorization: 'Bearer secret' }, body: JSON.stringify({ model: 'm', messages: ['bread'] }) })
  expect(await answer.json()).toMatchObject({ choices: [{ message: { content: 'Bought.' } }] })
  expect(await nextJson(lines)).toEqual({ type: 'call', api: 'chat', model: 'm', streamed: false, task: 'bread', step: 0, fault: null })
  child.kill('SIGTERM')
  expect(await closed).toEqual([0, null])
})

test('a script that is not there is said in one sentence, with exit code 2', async () => {
  const { child, closed } = start(['--script', join(folder, 'gone.json')])
  const chunks: Buffer[] = []
  child.stderr.on('data', (chunk: Buffer) => chunks.push(chunk))
  expect(await closed).toEqual([2, null])
  expect(Buffer.concat(chunks).toString()).toMatch(/^.*gone\.json cannot be read \(ENOENT.*\); name a script with --script\.\n$/)
})
