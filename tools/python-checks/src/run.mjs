// Runs a Python module (ruff, mypy, pytest …) in an environment made once for these checks:
//   node tools/python-checks/src/run.mjs MODULE [ARGUMENT ...]
// It holds the checkers and the profile's own requirements, so that the adapter is checked beside the real upstream.
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const here = dirname(fileURLToPath(import.meta.url))
const checkers = join(here, '..', 'requirements.txt')
const upstream = join(here, '..', '..', '..', 'upstream-patches', 'profiles', 'package-1.0.2', 'requirements.txt')
const cacheFolder = join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'osworld-e2b', 'python-checks')

const python = findPython()
const identity = [readFileSync(checkers), readFileSync(upstream), python.version]
const digest = identity.reduce((hash, part) => hash.update(part).update('\0'), createHash('sha256')).digest('hex')
const folder = join(cacheFolder, digest)
if (!existsSync(join(folder, 'complete'))) makeLocked()
process.exitCode = spawnSync(join(folder, 'bin', 'python'), ['-m', ...process.argv.slice(2)], { stdio: 'inherit' }).status ?? 1

/** `flock` keeps two makers apart and lets go by itself when one dies. */
function makeLocked() {
  mkdirSync(cacheFolder, { recursive: true })
  const make = [process.execPath, join(here, 'make-environment.mjs'), python.command, folder, upstream, checkers]
  const { status } = spawnSync('flock', [join(cacheFolder, 'lock'), ...make], { stdio: 'inherit' })
  if (status !== 0) process.exit(status ?? 1)
}

function findPython() {
  for (const command of ['python3.12', 'python3.11', 'python3']) {
    const { status, stdout } = spawnSync(command, ['-c', 'import platform; print(platform.python_version())'], { encoding: 'utf8' })
    if (status === 0 && /^3\.1[12]\./.test(stdout)) return { command, version: stdout.trim() }
  }
  process.stderr.write('Python 3.11 or 3.12 is needed for the Python checks and none was found.\n')
  process.exit(2)
}
