// `npm run simulate [-- --json]`: the campaign engine in simulated time, against a provider that fails as stated.
import { join } from 'node:path'
import { installNodeModules, main, nx, prepareMachine, workspaceRoot } from './prepare.mjs'
import { runShown } from './run.mjs'

await main(async () => {
  await prepareMachine()
  await installNodeModules()
  await nx('Compiling', ['run-many', '-t', 'compile', '-p', 'simulate'])
  return runShown([process.execPath, join(workspaceRoot, 'tools', 'simulate', 'dist', 'main.js'), ...process.argv.slice(2)], { cwd: workspaceRoot })
})
