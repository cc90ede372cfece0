import type { Contract, ContractFile, PriceTable } from '@osworld-e2b/contracts'
import { asksEndpoints, usualModelCallAttempts } from '@osworld-e2b/gates'
import type { GatewayEndpoint, GatewayOptions } from '@osworld-e2b/model-gateway'
import { secret } from '@osworld-e2b/redaction'
import { UsageError } from '../usage-error.ts'

export interface GatewayInput {
  readonly contract: Contract | ContractFile
  readonly environment: NodeJS.ProcessEnv
  readonly prices: PriceTable
}

/** What the model gateway is told of a contract. */
export type ContractGateway = Pick<GatewayOptions, 'endpoints' | 'callAttempts' | 'requestCap' | 'keepContent' | 'prices'>

/** The one place where addresses and keys are read. No endpoints for an agent that asks none of ours. */
export function gatewayOptionsOf({ contract, environment, prices }: GatewayInput): ContractGateway {
  const { operation } = contract
  const cap = operation.budget?.model_requests
  return {
    endpoints: asksEndpoints(contract) ? (operation.endpoints ?? []).map((endpoint) => endpointOf(endpoint, environment)) : [],
    callAttempts: operation.model_call_attempts ?? usualModelCallAttempts,
    ...(cap === undefined ? {} : { requestCap: cap }),
    keepContent: operation.keep_model_content ?? false,
    prices,
  }
}

type WrittenEndpoint = NonNullable<Contract['operation']['endpoints']>[number]

function endpointOf({ label, api_key_variable: keyVariable, max_concurrent_requests: most }: WrittenEndpoint, environment: NodeJS.ProcessEnv): GatewayEndpoint {
  return {
    label,
    url: valueOf(label, environment),
    ...(keyVariable === undefined ? {} : { apiKey: secret(valueOf(keyVariable, environment), keyVariable) }),
    ...(most === undefined ? {} : { maxConcurrentRequests: most }),
  }
}

function valueOf(variable: string, environment: NodeJS.ProcessEnv): string {
  const value = environment[variable] ?? ''
  if (value === '') throw new UsageError(`The environment variable ${variable}, which operation.endpoints names, is not set; set it and start the run again.`)
  return value
}
