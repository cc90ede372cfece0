// `npm run bench [name] [-- --json]`: figures of this machine, measured side by side in one run.
import { join } from 'node:path'
import { installNodeModules, main, nx, prepareMachine, workspaceRoot } from './prepare.mjs'
import { runShown } from './run.mjs'

await main(async () => {
  await prepareMachine()
  await installNodeModules()
  await nx('Compiling', ['run-many', '-t', 'compile', '-p', 'bench,cli,relay-bin,local-e2b-bin,template-builder'])
  return runShown([process.execPath, join(workspaceRoot, 'tools', 'bench', 'dist', 'main.js'), ...process.argv.slice(2)], { cwd: workspaceRoot })
})
