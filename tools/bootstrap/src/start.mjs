// `npm start`: from a fresh clone to a scored suite. Arguments after `--` go to `osworld run`.
import { join } from 'node:path'
import { installNodeModules, main, nx, prepareMachine, workspaceRoot } from './prepare.mjs'
import { runShown } from './run.mjs'

await main(async () => {
  await prepareMachine()
  await installNodeModules()
  await nx('Compiling', ['run-many', '-t', 'compile', '-p', 'cli,relay-bin,local-e2b-bin,template-builder'])
  const app = (/** @type {string} */ name) => join(workspaceRoot, 'apps', name, 'dist', 'main.js')
  const options = { cwd: workspaceRoot }
  for (const command of [
    [process.execPath, app('cli'), 'setup', '--profile', 'package-1.0.2'],
    [process.execPath, app('template-builder'), 'build', '--json'],
  ]) {
    const code = await runShown(command, options)
    if (code !== 0) return code
  }
  return runShown([process.execPath, app('cli'), 'run', ...process.argv.slice(2)], options)
})
