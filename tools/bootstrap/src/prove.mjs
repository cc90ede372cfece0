// `npm run prove [name]`: the long proofs; without a name they are listed.
import { join } from 'node:path'
import { installNodeModules, main, nx, prepareMachine, workspaceRoot } from './prepare.mjs'
import { runShown } from './run.mjs'

await main(async () => {
  await prepareMachine()
  await installNodeModules()
  await nx('Compiling', ['run-many', '-t', 'compile', '-p', 'prove,cli,relay-bin,local-e2b-bin,template-builder'])
  return runShown([process.execPath, join(workspaceRoot, 'tools', 'prove', 'dist', 'main.js'), ...process.argv.slice(2)], { cwd: workspaceRoot })
})
