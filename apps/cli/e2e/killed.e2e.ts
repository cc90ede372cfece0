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

/** Two cells of `npm run prove kill-matrix`, by the same program. */
const sample = ['coordinator:agent', 'relay:setup'] as const

test('a coordinator killed while an agent acts and a relay killed in a set-up cost their attempts alone: same rewards, nothing left', async () => {
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
