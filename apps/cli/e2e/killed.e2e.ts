import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { temporaryResults, workspaceRoot } from './osworld.ts'

let results: Awaited<ReturnType<typeof temporaryResults>>
beforeAll(async () => {
  results = await temporaryResults()
})
afterAll(() => results.remove())

const prove = join(workspaceRoot, 'tools', 'prove', 'dist', 'main.js')

/** A cell of `npm run prove kill-matrix`, by the same program; other tests here kill coordinators, relays and attempts. */
const sample = ['sandbox:agent'] as const

test('a sandbox killed while an agent acts costs its attempt alone: same rewards, nothing left', async () => {
  const child = spawn(process.execPath, [prove, 'kill-matrix', '--results', results.path, ...sample.flatMap((cell) => ['--cell', cell])], { cwd: workspaceRoot, stdio: ['ignore', 'pipe', 'pipe'] })
  const chunks: string[] = []
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => chunks.push(chunk.toString()))
  const exitCode = await new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('close', resolve)
  })
  const output = chunks.join('')
  for (const cell of sample) expect(output).toContain(`${cell}: as expected`)
  expect(output).toContain('a part that leaves no record: passed')
  expect(exitCode).toBe(0)
})
