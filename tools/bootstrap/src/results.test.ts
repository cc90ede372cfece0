import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { countResults, resultFiles } from './results.mjs'

test('results of both runners are found anywhere in the tree and added up', () => {
  const root = mkdtempSync(join(tmpdir(), 'results-test-'))
  try {
    for (const folder of ['libs/a/test-results', 'b/test-results', 'node_modules/c/test-results']) mkdirSync(join(root, folder), { recursive: true })
    const report = { numPassedTests: 3, numFailedTests: 1, numFailedTestSuites: 1, numPendingTests: 2 }
    writeFileSync(join(root, 'libs/a/test-results/unit.json'), JSON.stringify(report))
    writeFileSync(join(root, 'node_modules/c/test-results/unit.json'), JSON.stringify(report))
    writeFileSync(join(root, 'b/test-results/pytest.xml'), '<testsuites><testsuite name="pytest" errors="1" failures="1" skipped="1" tests="9" time="1"></testsuite></testsuites>')
    expect(countResults(resultFiles(root))).toEqual({ passed: 9, failed: 3, skipped: 3 })
  } finally {
    rmSync(root, { recursive: true })
  }
})

test('a test file that cannot be loaded counts as failed', () => {
  const file = join(mkdtempSync(join(tmpdir(), 'results-test-')), 'unit.json')
  writeFileSync(file, JSON.stringify({ numPassedTests: 5, numFailedTests: 0, numFailedTestSuites: 1, numPendingTests: 0 }))
  expect(countResults([file]).failed).toBe(1)
})
