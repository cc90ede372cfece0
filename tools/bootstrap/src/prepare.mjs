import { createHash } from 'node:crypto'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gatherFacts, hasKeyring } from './gather.mjs'
import { missingPackages, programs, refusal, testPrograms } from './machine.mjs'
import { step } from './progress.mjs'
import { BootstrapError, runLogged } from './run.mjs'

export const workspaceRoot = join(dirname(fileURLToPath(import.meta.url)), '..', '..', '..')
const logFile = (/** @type {string} */ name) => join(workspaceRoot, 'results', 'logs', `${name}.log`)

/**
 * Refuses an unsupported machine before anything is installed, then installs what is missing.
 *
 * @param {{ forTests?: boolean }} [options] also what only the tests use, where it can be installed
 */
export async function prepareMachine(options = {}) {
  const facts = gatherFacts()
  const problem = refusal(facts)
  if (problem !== undefined) throw new BootstrapError(problem, 2)
  const installsForTests = options.forTests === true && facts.isRoot && facts.hasApt
  const packages = missingPackages(facts, hasKeyring(), installsForTests ? { ...programs, ...testPrograms } : programs)
  if (packages.length > 0) await installPackages(packages, facts)
}

/** npm packages, exactly as locked; skipped when they are there already. */
export async function installNodeModules() {
  const digest = createHash('sha256').update(readFileSync(join(workspaceRoot, 'package-lock.json'))).digest('hex')
  const marker = join(workspaceRoot, 'node_modules', '.osworld-e2b-lock-digest')
  if (existsSync(marker) && readFileSync(marker, 'utf8') === digest) return
  await step('Installing npm packages', () => runLogged(['npm', 'ci', '--no-audit', '--no-fund'], { cwd: workspaceRoot, logFile: logFile('npm-ci') }))
  writeFileSync(marker, digest)
}

/**
 * @param {string} title
 * @param {readonly string[]} args
 */
export function nx(title, args) {
  return step(title, () =>
    runLogged([join(workspaceRoot, 'node_modules', '.bin', 'nx'), ...args], {
      cwd: workspaceRoot,
      logFile: logFile(title.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-')),
      env: nxEnvironment(),
    }),
  )
}

/** No background daemon: a bootstrap leaves no process behind. */
export function nxEnvironment() {
  return { ...process.env, NX_DAEMON: 'false', NX_TUI: 'false' }
}

/**
 * @param {readonly string[]} packages
 * @param {import('./machine.mjs').MachineFacts} facts
 */
async function installPackages(packages, facts) {
  const command = `apt-get update && apt-get install -y --no-install-recommends ${packages.join(' ')}`
  if (!facts.isRoot || !facts.hasApt) {
    const how = facts.hasApt ? `run once as root: ${command}` : `install what this system calls ${packages.join(', ')}`
    throw new BootstrapError(`Missing system packages: ${packages.join(' ')}; ${how}`, 2)
  }
  await step(`Installing system packages (${packages.join(' ')})`, () =>
    runLogged(['sh', '-c', command], { cwd: workspaceRoot, logFile: logFile('apt-get'), env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' } }),
  )
}

/**
 * Runs a whole bootstrap; a refusal is one sentence on standard error and its exit code.
 *
 * @param {() => Promise<number>} work
 */
export async function main(work) {
  try {
    process.exitCode = await work()
  } catch (error) {
    if (!(error instanceof BootstrapError)) throw error
    process.stderr.write(`${error.message}\n`)
    process.exitCode = error.exitCode
  }
}
