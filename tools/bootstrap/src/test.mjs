// `npm test`: everything that CI runs. Ends with one line, `N passed, N failed`.
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { countResults, resultFiles } from './results.mjs'
import { installNodeModules, main, nxEnvironment, prepareMachine, workspaceRoot } from './prepare.mjs'
import { runShown } from './run.mjs'

/** Small base images of the tests, kept between runs where every account can walk to. */
const testCache = `/var/tmp/osworld-e2b-test-${process.getuid?.() ?? 'any'}`

await main(async () => {
  await prepareMachine({ forTests: true })
  await installNodeModules()
  for (const file of resultFiles(workspaceRoot)) rmSync(file)
  const checks = await nx(['run-many', '-t', 'compile', 'lint', 'typecheck', 'test', '--nxBail=false'])
  const prepared = checks === 0 ? await prepareDesktop() : 1
  const endToEnd = prepared === 0 ? await nx(['run-many', '-t', 'e2e', '--parallel=1']) : 1
  if (checks !== 0) process.stderr.write('The end-to-end tests were left out, since the checks before them failed.\n')
  const { passed, failed, skipped } = countResults(resultFiles(workspaceRoot))
  // A step that failed without a failing test (lint, types, a build) must not read as a clean run.
  const unexplained = failed === 0 && (checks !== 0 || prepared !== 0 || endToEnd !== 0) ? 1 : 0
  process.stdout.write(`${passed} passed, ${failed + unexplained} failed${skipped === 0 ? '' : `, ${skipped} skipped`}\n`)
  return failed + unexplained === 0 ? 0 : 1
})

/** The Python environment and the desktop template, kept in the user's cache folder between runs. */
async function prepareDesktop() {
  const app = (/** @type {string} */ name) => join(workspaceRoot, 'apps', name, 'dist', 'main.js')
  const setup = await runShown([process.execPath, app('cli'), 'setup'], { cwd: workspaceRoot })
  return setup === 0 ? runShown([process.execPath, app('template-builder'), 'build'], { cwd: workspaceRoot }) : setup
}

/** @param {readonly string[]} args */
function nx(args) {
  return runShown([join(workspaceRoot, 'node_modules', '.bin', 'nx'), ...args], {
    cwd: workspaceRoot,
    env: { ...nxEnvironment(), OSWORLD_TEST_CACHE: process.env.OSWORLD_TEST_CACHE ?? testCache },
  })
}
