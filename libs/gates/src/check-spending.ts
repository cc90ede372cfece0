import type { PriceTable } from '@osworld-e2b/contracts'
import { type AnyContract, asksEndpoints, isPaid } from './any-contract.ts'
import { type Fault, fieldFault } from './fault.ts'
import { grouped } from './wording.ts'

export interface SpendingFacts {
  readonly contract: AnyContract
  /** SHA-256 of the canonical JSON of `authorizedPart`, of the contract as it was read. */
  readonly contractSha256: string
  /** What the environment variables of the endpoints' labels hold. */
  readonly addresses: ReadonlyMap<string, string>
  /** Names of the environment variables of the endpoints' keys that are set; no value of them. */
  readonly keysSet: ReadonlySet<string>
  /** Of an agent that is asked over HTTP, from its variable or as given. */
  readonly agentUrl: string | undefined
  readonly prices: Pick<PriceTable, 'models'>
  /** Null where it is not known; of no meaning on the local route. */
  readonly sandboxHourUsd: number | null
  readonly nowMs: number
}

/** Every reason why a contract may not spend money; none for what is free. A key in the environment authorizes nothing. */
export function checkSpending(facts: SpendingFacts): readonly Fault[] {
  if (!isPaid(facts.contract)) return []
  return [...switchFaults(facts), ...costFaults(facts), ...endpointFaults(facts), ...agentUrlFaults(facts), ...authorizationFaults(facts)]
}

function switchFaults({ contract: { scoring, operation } }: SpendingFacts): readonly Fault[] {
  const faults: Fault[] = []
  if (!operation.execution_authorized) faults.push(fieldFault('not_authorized', 'operation.execution_authorized', 'is false, and this run may cost money; set it to true after reviewing the contract.'))
  if (!operation.route.final) faults.push(fieldFault('not_final', 'operation.route.final', 'is false, and only a final run may cost money; set it to true, or use the local route with an agent that asks no model.'))
  // On the local route the template of this machine is built, whatever the agent costs.
  if (scoring.template === undefined && operation.route.kind !== 'local') faults.push(fieldFault('template_missing', 'scoring.template', 'is missing, and a paid run names an image that cannot change; write name:build_id.'))
  return faults
}

/** Dollars can be held only against known prices: unknown cost is not zero. */
function costFaults({ contract, prices, sandboxHourUsd }: SpendingFacts): readonly Fault[] {
  const { scoring: { agent }, operation: { budget, route } } = contract
  const cents = budget?.cost_usd_cents
  if (cents === undefined) return []
  const fault = (why: string, next: string) => fieldFault('cost_unknown', 'operation.budget.cost_usd_cents', `is ${grouped(cents)}, but ${why}, and unknown cost cannot be limited; ${next}, or take the budget out.`)
  const faults: Fault[] = []
  const model = 'model' in agent ? agent.model : undefined
  if (asksEndpoints(contract)) {
    if (model === undefined) faults.push(fault('scoring.agent.model is missing', 'name the model that the agent asks'))
    else if (!Object.hasOwn(prices.models, model)) faults.push(fault(`the price of the model ${model} is not known`, 'add it to a price table and give that with --prices'))
  }
  if (route.kind !== 'local' && sandboxHourUsd === null) faults.push(fault(`the price of a sandbox on route ${route.kind} is not known`, 'give it with --sandbox-hour-usd'))
  return faults
}

/** The key stays with the coordinator; its value has no business here. */
function keyFault(path: string, key: string | undefined, keysSet: ReadonlySet<string>): readonly Fault[] {
  if (key === undefined || keysSet.has(key)) return []
  return [fieldFault('endpoint_key_unset', `${path}.api_key_variable`, `names ${key}, which is not set; set that environment variable to the endpoint's key.`)]
}

function addressFault(path: string, label: string, address: string | undefined): readonly Fault[] {
  if (address === undefined || address === '') return [fieldFault('endpoint_unset', `${path}.label`, `names ${label}, which is not set; set that environment variable to the endpoint's address.`)]
  if (isPlainAddress(address)) return []
  return [fieldFault('endpoint_address', `${path}.label`, `names ${label}, which holds no plain address; set it to one that begins with http:// or https://, without a login or a query.`)]
}

function endpointFaults({ contract, addresses, keysSet }: SpendingFacts): readonly Fault[] {
  if (!asksEndpoints(contract)) return []
  return (contract.operation.endpoints ?? []).flatMap(({ label, api_key_variable: key }, index) => {
    const path = `operation.endpoints.${index}`
    return [...addressFault(path, label, addresses.get(label)), ...keyFault(path, key, keysSet)]
  })
}

function agentUrlFaults({ contract: { scoring, operation }, agentUrl }: SpendingFacts): readonly Fault[] {
  if (scoring.agent.kind !== 'http') return []
  const path = 'operation.agent_url_variable'
  const { agent_url_variable: variable } = operation
  if (agentUrl !== undefined && agentUrl !== '') {
    if (isPlainAddress(agentUrl)) return []
    return [{ rule: 'agent_url_address', path, message: `The address of the agent ${scoring.agent.name} is no plain one; give one that begins with http:// or https://, without a login or a query.` }]
  }
  if (variable === undefined) return [fieldFault('agent_url_unset', path, 'is missing, and an agent of kind http is asked at an address; name the environment variable that holds it, or give --agent-url.')]
  return [fieldFault('agent_url_unset', path, `names ${variable}, which is not set; set that environment variable to the agent's address, or give --agent-url.`)]
}

/** A login or a query would end up in requests of whoever builds on the address, and in what those print. */
function isPlainAddress(address: string): boolean {
  const url = URL.canParse(address) ? new URL(address) : undefined
  return url !== undefined && ['http:', 'https:'].includes(url.protocol) && url.username === '' && url.password === '' && url.search === '' && url.hash === ''
}

function authorizationFaults({ contract, contractSha256, nowMs }: SpendingFacts): readonly Fault[] {
  const path = 'operation.authorization'
  const { authorization, route } = contract.operation
  // The digest of now would be no longer right once the contract is made final.
  if (authorization === undefined && !route.final) return [fieldFault('authorization_missing', path, 'is missing, and the digest that it names changes with operation.route.final; set that first, and the next refusal tells the digest.')]
  if (authorization === undefined) return [fieldFault('authorization_missing', path, `is missing; after reviewing the contract write {"contract_sha256": "${contractSha256}"}.`)]
  const { contract_sha256: authorized, expires_at: expiresAt } = authorization
  const faults: Fault[] = []
  if (authorized !== contractSha256) faults.push(fieldFault('authorization_other', `${path}.contract_sha256`, `is ${authorized}, but this contract has ${contractSha256}; review what changed and write that digest.`))
  if (expiresAt !== undefined && Date.parse(expiresAt) <= nowMs) faults.push(fieldFault('authorization_expired', `${path}.expires_at`, `is ${expiresAt}, which is over; authorize the contract again with a later time.`))
  return faults
}
