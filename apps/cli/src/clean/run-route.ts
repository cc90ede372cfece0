import type { Connection } from '@osworld-e2b/contracts'
import { readServing } from '@osworld-e2b/local-e2b'
import type { RecordedRun } from '@osworld-e2b/scheduler'
import { remoteConnection } from '@osworld-e2b/template'
import { UsageError } from '../usage-error.ts'

/** The way to where a run's sandboxes are, or why there can be none; a sentence. */
export type RunRoute = { readonly connection: Connection } | { readonly nothingLeft: string }

export interface RouteContext {
  /** Of the local server. */
  readonly dataFolder: string
  readonly environment: NodeJS.ProcessEnv
}

export async function routeOf({ contract }: RecordedRun, { dataFolder, environment }: RouteContext): Promise<RunRoute> {
  const { kind } = contract.operation.route
  if (kind !== 'local') return { connection: remoteConnection(kind, environment) }
  const serving = await readServing(dataFolder)
  if (serving.kind === 'answers') return { connection: { route: 'local', api_key: serving.apiKey, api_url: serving.url, sandbox_url: serving.url } }
  if (serving.kind === 'nobody') return { nothingLeft: `No local E2B server serves ${dataFolder}, and sandboxes end with their server: none can be left there. If the run used another data folder, name it with --data.` }
  throw new UsageError(`The local E2B server of ${dataFolder}, process ${serving.pid}, does not answer, so its sandboxes cannot be listed: wait for it or end it, and give the command again.`)
}
