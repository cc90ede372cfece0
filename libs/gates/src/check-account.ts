import type { DoctorCheck } from '@osworld-e2b/contracts'
import { asksEndpoints } from './any-contract.ts'
import type { AccountFacts, Unasked } from './account-facts.ts'
import { diskCheck, memoryCheck, toolChecks, clockCheck } from './check-machine.ts'
import { advice, need } from './doctor-check.ts'

/** What a contract needs besides a machine that runs sandboxes: one line each, with what is missing and its remedy. */
export function checkAccount(facts: AccountFacts): readonly DoctorCheck[] {
  const isLocal = facts.contract.operation.route.kind === 'local'
  return [
    ...(isLocal ? [] : [keyCheck(facts), templateCheck(facts), limitCheck(facts)]),
    ...(asksEndpoints(facts.contract) ? endpointChecks(facts) : []),
    ...agentChecks(facts),
    ...(facts.contract.scoring.enable_proxy ? proxyChecks(facts) : []),
    ...toolChecks(facts.hostTools),
    diskCheck(facts.disk),
    memoryCheck(facts.memory),
    ...(isLocal ? [] : [clockCheck(facts)]),
  ]
}

function keyCheck({ key, contract }: AccountFacts): DoctorCheck {
  const name = `key of route ${contract.operation.route.kind}`
  switch (key.state) {
    case 'accepted':
      return need(name, 'accepted')
    case 'absent':
      return need(name, 'E2B_API_KEY is not set', 'Set E2B_API_KEY to a key of the account that pays.')
    case 'refused':
      return need(name, 'E2B_API_KEY is refused', 'Make a new key in the account and set E2B_API_KEY to it.')
    case 'unknown':
      return unasked(name, 'the API', key)
  }
}

function templateCheck({ template, contract }: AccountFacts): DoctorCheck {
  const name = 'template of the contract'
  const reference = contract.scoring.template ?? 'none'
  const build = 'Build it with `nx run template-builder:build` in this account, and write the printed name:build_id to scoring.template.'
  switch (template.state) {
    case 'found':
      return need(name, `${reference} is there`)
    case 'no_such_name':
      return need(name, `the account has no template of the name in ${reference}`, build)
    case 'no_such_build':
      return need(name, `the account has the template of ${reference}, but not that build of it`, build)
    case 'not_named':
      return need(name, 'the contract names none', build)
    case 'unknown':
      return unasked(name, 'the API', template)
  }
}

function limitCheck({ sandboxes, contract }: AccountFacts): DoctorCheck {
  const name = 'sandboxes at a time'
  const wanted = contract.operation.num_envs
  // Not every server tells its limit, and creating too many is answered and waited for.
  if (sandboxes.state === 'unknown') return advice(name, `not known: the account ${sandboxes.problem}`, `See in the account's dashboard that it allows ${wanted}.`)
  const { limit, running } = sandboxes
  const left = Math.max(0, limit - running)
  const found = `${limit} allowed, ${running} running, ${wanted} wanted`
  if (wanted <= left) return need(name, found)
  return need(name, found, left === 0 ? 'Stop sandboxes that nobody needs, or raise the limit of the account.' : `Write operation.num_envs ${left}, stop sandboxes that nobody needs, or raise the limit of the account.`)
}

function endpointChecks({ endpoints, contract }: AccountFacts): readonly DoctorCheck[] {
  if (endpoints.length === 0) return [need('model endpoint', 'the contract names none', 'Name in operation.endpoints the environment variable with the address of one.')]
  return endpoints.map(({ label, answer }) => {
    const name = `model endpoint ${label}`
    const keyName = contract.operation.endpoints?.find((endpoint) => endpoint.label === label)?.api_key_variable ?? 'its key'
    switch (answer.state) {
      case 'answers':
        return need(name, 'answers')
      case 'unset':
        return need(name, 'the environment variable is not set', `Set ${label} to the endpoint's address.`)
      case 'key_unset':
        return need(name, `${keyName} is not set`, `Set ${keyName} to the endpoint's key.`)
      case 'key_wanted':
        return need(name, 'wants a key', `Name the environment variable that holds it in api_key_variable of ${label}.`)
      case 'key_refused':
        return need(name, `refuses ${keyName}`, `Set ${keyName} to a key that the endpoint accepts.`)
      case 'unknown':
        return unasked(name, 'the endpoint', answer)
    }
  })
}

/** Nothing is asked of it: its protocol begins with an attempt. */
function agentChecks({ hasAgentUrl, contract: { scoring: { agent }, operation } }: AccountFacts): readonly DoctorCheck[] {
  if (agent.kind !== 'http') return []
  const name = `agent ${agent.name}`
  if (hasAgentUrl) return [need(name, 'its address is known')]
  const { agent_url_variable: variable } = operation
  const remedy = variable === undefined ? 'Name the environment variable that holds it in operation.agent_url_variable, or give it to the run with --agent-url.' : `Set ${variable} to the agent's address, or give it to the run with --agent-url.`
  return [need(name, 'its address is not known', remedy)]
}

/** One proxy that answers keeps tasks going, since upstream goes round the list; the others are only advised. */
function proxyChecks({ proxies }: AccountFacts): readonly DoctorCheck[] {
  const name = 'proxy'
  const answering = proxies.filter(({ answer }) => answer.state === 'answers').length
  const found = `${answering} of ${proxies.length} in the proxy file ${answering === 1 ? 'answers' : 'answer'}`
  if (proxies.length === 0) return []
  if (answering === proxies.length) return [need(name, found)]
  const silent = proxies.flatMap(({ entry, answer }) => (answer.state === 'answers' ? [] : [`entry ${entry} ${answer.state === 'unknown' ? answer.problem : 'refuses its user and password'}`])).join(', ')
  const remedy = `Correct the proxy file: ${silent}.`
  return [answering === 0 ? need(name, found, remedy) : advice(name, found, remedy)]
}

function unasked(name: string, who: string, { problem }: Unasked): DoctorCheck {
  return need(name, `not known: ${who} ${problem}`, 'Correct the address or the network, and ask again.')
}
