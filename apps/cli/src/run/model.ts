import type { Contract, ModelUsage } from '@osworld-e2b/contracts'
import { type ModelGateway, openModelGateway } from '@osworld-e2b/model-gateway'
import { type AttemptIdentity, type ModelSession } from '@osworld-e2b/scheduler'
import { join } from 'node:path'
import { gatewayOptionsOf } from './gateway-options.ts'
import type { RunOptions } from './options.ts'

/** The model of a campaign: its gateway, and what each running attempt has used of it. */
export interface Model {
  readonly gateway: ModelGateway
  open(attemptFolder: string): ModelSession
  usage(runFolder: string, identity: AttemptIdentity): ModelUsage | undefined
  /** Attempts that the endpoints may serve at a time, one for each request that they take; undefined when one takes any number. */
  readonly permits: number | undefined
  close(): Promise<void>
}

/** Opens the gateway when the contract names endpoints; `requestsBefore` were sent by earlier starts of the run. */
export async function openModel(contract: Contract, options: RunOptions, { environment, requestsBefore }: { readonly environment: NodeJS.ProcessEnv; readonly requestsBefore: number }): Promise<Model | undefined> {
  const gatewayOptions = gatewayOptionsOf({ contract, environment, prices: options.prices.table })
  if (gatewayOptions.endpoints.length === 0) return undefined
  const gateway = await openModelGateway({ ...gatewayOptions, requestsBefore })
  const sessions = new Map<string, ModelSession>()
  return {
    gateway,
    open: (attemptFolder) => {
      const session = gateway.openAttempt({ callsFile: join(attemptFolder, 'model-calls.jsonl') })
      const kept: ModelSession = {
        environment: { ...session.environment, OSWORLD_MODEL_GATEWAY: '1' },
        swallowed: session.swallowed,
        usage: () => session.usage(),
        close: async () => {
          sessions.delete(attemptFolder)
          return session.close()
        },
      }
      sessions.set(attemptFolder, kept)
      return kept
    },
    usage: (runFolder, { attemptDir }) => sessions.get(join(runFolder, attemptDir))?.usage(),
    permits: permitsOf(contract),
    close: () => gateway.close(),
  }
}

function permitsOf({ operation: { endpoints = [] } }: Contract): number | undefined {
  const limits = endpoints.map(({ max_concurrent_requests: most }) => most)
  return limits.some((most) => most === undefined) ? undefined : limits.reduce<number>((sum, most) => sum + (most ?? 0), 0)
}
