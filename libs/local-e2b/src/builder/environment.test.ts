import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'
import { environmentPairs, expansionCommand, needsExpansion } from './environment.ts'

const run = promisify(execFile)

describe('an ENV value', () => {
  it.each([
    ['$PREFIX/bin:${PREFIX}', '/opt/bin:/opt'],
    ['say "hi" to $PREFIX', 'say "hi" to /opt'],
    ['costs \\$5', 'costs $5'],
    ["it's $PREFIX", "it's /opt"],
  ])('%s is expanded by the shell to %s', async (value, expanded) => {
    expect(needsExpansion(value)).toBe(true)
    const { stdout } = await run('/bin/bash', ['-c', expansionCommand(value)], { env: { PREFIX: '/opt' } })
    expect(stdout).toBe(expanded)
  })

  it('without anything to expand stands as it is', () => {
    expect(needsExpansion('a "b" c;d & e')).toBe(false)
  })

  it('needs a name that a shell accepts', () => {
    expect(environmentPairs(['A', '1', 'B_2', ''])).toEqual([
      ['A', '1'],
      ['B_2', ''],
    ])
    expect(() => environmentPairs(['A-B', '1'])).toThrow("'A-B'")
  })
})
