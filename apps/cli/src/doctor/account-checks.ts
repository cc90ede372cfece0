import { type DoctorCheck, proxyFileSchema, type ProxyEntry } from '@osworld-e2b/contracts'
import { checkAccount } from '@osworld-e2b/gates'
import { readSecretText } from '../run/secret-files.ts'
import { type ApiFacts, askApi } from './ask-api.ts'
import { askEndpoints } from './ask-endpoints.ts'
import { askProxies } from './ask-proxies.ts'
import type { Campaign } from './campaign.ts'
import { attemptMemoryBytes, diskRoom, evidenceBytes } from './campaign-room.ts'
import { findHostTools } from './host-tools.ts'

export interface Surroundings {
  readonly environment: NodeJS.ProcessEnv
  readonly freeMemoryBytes: number
}

/** Asks the account, the endpoints and the proxies all at once, looks at this machine, and judges what they say. */
export async function accountChecks(campaign: Campaign, { environment, freeMemoryBytes }: Surroundings): Promise<readonly DoctorCheck[]> {
  const { contract, options, tasks, taskCount, resultsFolder, checks } = campaign
  const [api, endpoints, proxies, hostTools, disk] = await Promise.all([
    apiFacts(campaign, environment),
    askEndpoints(contract.operation.endpoints ?? [], environment),
    proxyEntries(options).then(askProxies),
    findHostTools(tasks, environment['PATH']),
    diskRoom(resultsFolder, evidenceBytes(contract, taskCount)),
  ])
  const memory = { freeBytes: freeMemoryBytes, neededBytes: attemptMemoryBytes(contract) }
  return [...checks, ...checkAccount({ contract, ...api, endpoints, hasAgentUrl: (options.agentUrl ?? '') !== '', proxies, hostTools, disk, memory })]
}

async function apiFacts({ contract: { scoring, operation } }: Campaign, environment: NodeJS.ProcessEnv): Promise<ApiFacts> {
  const { kind } = operation.route
  if (kind !== 'local') return askApi({ route: kind, template: scoring.template, environment })
  const none = { state: 'unknown', problem: 'has no part in the local route' } as const
  return { key: none, template: none, sandboxes: none, clockSkewMs: null }
}

/** None when no task may use them, and none of a file that preflight refuses. */
async function proxyEntries({ enableProxy, proxyFile }: Campaign['options']): Promise<readonly ProxyEntry[]> {
  if (!enableProxy || proxyFile === undefined) return []
  const text = await readSecretText(proxyFile)
  if ('problem' in text) return []
  return proxyFileSchema.safeParse(jsonOrNull(text.content)).data ?? []
}

/** The parser's own words would quote the file. */
function jsonOrNull(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}
