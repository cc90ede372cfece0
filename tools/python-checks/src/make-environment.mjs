// Makes the environment of the Python checks: node make-environment.mjs PYTHON FOLDER UPSTREAM CHECKERS
// The marker is written last, so a half-made environment is made again.
import { spawnSync } from 'node:child_process'
import { existsSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const [python = '', folder = '', upstream = '', checkers = ''] = process.argv.slice(2)
const marker = join(folder, 'complete')
if (!existsSync(marker)) {
  rmSync(folder, { recursive: true, force: true })
  const pip = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check']
  run(python, ['-m', 'venv', folder])
  // The checkers first: after upstream, pip would list every dependency that is left out on purpose.
  run(join(folder, 'bin', 'python'), [...pip, '-r', checkers])
  run(join(folder, 'bin', 'python'), [...pip, '--no-deps', '--require-hashes', '-r', upstream])
  writeFileSync(marker, '')
}

/** @param {string} file @param {readonly string[]} args */
function run(file, args) {
  const { status } = spawnSync(file, args, { stdio: 'inherit' })
  if (status !== 0) process.exit(status ?? 1)
}
