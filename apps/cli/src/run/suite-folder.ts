import { join, resolve } from 'node:path'
import { workspace } from '../workspace.ts'

/** A suite by its name in `validation/`, or by the path of its folder. */
export function suiteFolder(suite: string): string {
  return suite.includes('/') ? resolve(suite) : join(workspace.suites, suite)
}
