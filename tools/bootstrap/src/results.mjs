import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'

const leftOut = new Set(['node_modules', 'dist', 'results', '.nx', '.git'])

/**
 * Reports that the test runners left in `test-results` folders: vitest's JSON and pytest's JUnit XML.
 *
 * @param {string} folder
 * @returns {readonly string[]}
 */
export function resultFiles(folder) {
  if (!existsSync(folder)) return []
  return readdirSync(folder).flatMap((name) => {
    const path = join(folder, name)
    if (leftOut.has(name) || !statSync(path).isDirectory()) return []
    if (name !== 'test-results') return resultFiles(path)
    return readdirSync(path)
      .filter((file) => /\.(json|xml)$/.test(file))
      .map((file) => join(path, file))
  })
}

/** @param {readonly string[]} files */
export function countResults(files) {
  const total = { passed: 0, failed: 0, skipped: 0 }
  for (const file of files) {
    const text = readFileSync(file, 'utf8')
    const counts = file.endsWith('.json') ? vitestCounts(JSON.parse(text)) : junitCounts(text)
    total.passed += counts.passed
    total.failed += counts.failed
    total.skipped += counts.skipped
  }
  return total
}

/** @param {{ numPassedTests: number, numFailedTests: number, numFailedTestSuites: number, numPendingTests: number }} report */
function vitestCounts(report) {
  // A file that cannot be loaded holds no failed test, yet its tests did not pass.
  const brokenFiles = report.numFailedTests === 0 ? report.numFailedTestSuites : 0
  return { passed: report.numPassedTests, failed: report.numFailedTests + brokenFiles, skipped: report.numPendingTests }
}

/** @param {string} xml */
function junitCounts(xml) {
  const count = (/** @type {string} */ name) => [...xml.matchAll(new RegExp(`<testsuite [^>]*\\b${name}="(\\d+)"`, 'g'))].reduce((sum, found) => sum + Number(found[1]), 0)
  const failed = count('failures') + count('errors')
  const skipped = count('skipped')
  return { passed: count('tests') - failed - skipped, failed, skipped }
}
