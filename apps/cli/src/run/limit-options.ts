import { type Budget, type ContractFile, type Endpoint, longestAttemptSeconds } from '@osworld-e2b/contracts'
import { UsageError } from '../usage-error.ts'
import type { RunArguments } from './arguments.ts'
import { cents, keyAndValue, wholeNumber } from './typed-values.ts'

type Operation = ContractFile['operation']

/** What of a contract's operation flags can say besides parallelism, attempts and their time. */
export type Limits = Pick<
  Operation,
  'phase_timeout_seconds' | 'launches_per_second' | 'run_seconds' | 'endpoints' | 'model_call_attempts' | 'budget' | 'keep_model_content' | 'agent_url_variable'
>

const mostCount = Number.MAX_SAFE_INTEGER
const variablePattern = /^[A-Z][A-Z0-9_]*$/

/** As typed, each else as `known` has it. */
export function limitOptions(given: RunArguments, known: Limits): Limits {
  const { agent_url_variable: agentUrlVariable } = known
  const launches = given.launchesPerSecond === undefined ? known.launches_per_second : wholeNumber('--launches-per-second', given.launchesPerSecond, 1_000)
  const runSeconds = given.runSeconds === undefined ? known.run_seconds : wholeNumber('--run-seconds', given.runSeconds, 2_000_000)
  const callAttempts = given.modelCallAttempts === undefined ? known.model_call_attempts : wholeNumber('--model-call-attempts', given.modelCallAttempts)
  const keepContent = given.keepModelContent ?? known.keep_model_content
  const endpoints = endpointsOf(given, known.endpoints)
  return {
    ...phaseTimeouts(given, known.phase_timeout_seconds),
    ...budgetOf(given, known.budget),
    ...(endpoints === undefined ? {} : { endpoints: [...endpoints] }),
    ...(launches === undefined ? {} : { launches_per_second: launches }),
    ...(runSeconds === undefined ? {} : { run_seconds: runSeconds }),
    ...(callAttempts === undefined ? {} : { model_call_attempts: callAttempts }),
    ...(keepContent === undefined ? {} : { keep_model_content: keepContent }),
    ...(agentUrlVariable === undefined ? {} : { agent_url_variable: agentUrlVariable }),
  }
}

function phaseTimeouts({ setupTimeout, agentTimeout, evaluateTimeout }: RunArguments, known: Limits['phase_timeout_seconds']): Pick<Limits, 'phase_timeout_seconds'> {
  const seconds = {
    ...known,
    ...(setupTimeout === undefined ? {} : { setup: wholeNumber('--setup-timeout', setupTimeout, longestAttemptSeconds) }),
    ...(agentTimeout === undefined ? {} : { agent: wholeNumber('--agent-timeout', agentTimeout, longestAttemptSeconds) }),
    ...(evaluateTimeout === undefined ? {} : { evaluate: wholeNumber('--evaluate-timeout', evaluateTimeout, longestAttemptSeconds) }),
  }
  return Object.keys(seconds).length === 0 ? {} : { phase_timeout_seconds: seconds }
}

function budgetOf({ budgetUsd, budgetSandboxHours, budgetRequests, budgetTokens }: RunArguments, known: Budget | undefined): Pick<Limits, 'budget'> {
  const budget: Budget = {
    ...known,
    ...(budgetUsd === undefined ? {} : { cost_usd_cents: cents('--budget-usd', budgetUsd) }),
    ...(budgetSandboxHours === undefined ? {} : { sandbox_hours: wholeNumber('--budget-sandbox-hours', budgetSandboxHours) }),
    ...(budgetRequests === undefined ? {} : { model_requests: wholeNumber('--budget-requests', budgetRequests, mostCount) }),
    ...(budgetTokens === undefined ? {} : { model_tokens: wholeNumber('--budget-tokens', budgetTokens, mostCount) }),
  }
  return Object.keys(budget).length === 0 ? {} : { budget }
}

/** Keys and concurrency are those of the endpoints that were typed beside them, else of the known ones. */
function endpointsOf({ endpoint, endpointKey, endpointConcurrency }: RunArguments, known: readonly Endpoint[] | undefined): readonly Endpoint[] | undefined {
  const named = endpoint === undefined ? known : labelled(endpoint)
  if (named === undefined) {
    const alone = endpointKey !== undefined ? '--endpoint-key' : endpointConcurrency !== undefined ? '--endpoint-concurrency' : undefined
    if (alone !== undefined) throw new UsageError(`${alone} is about an endpoint, and none is named; name one with --endpoint.`)
    return undefined
  }
  const keys = keysOf(endpointKey ?? [], named)
  const most = endpointConcurrency === undefined ? {} : { max_concurrent_requests: wholeNumber('--endpoint-concurrency', endpointConcurrency) }
  return named.map((one) => {
    const key = keys.get(one.label)
    return { ...one, ...(key === undefined ? {} : { api_key_variable: key }), ...most }
  })
}

/** A value that is no variable's name is not repeated: it may be an address with a login. */
function labelled(labels: readonly string[]): readonly Endpoint[] {
  if (!labels.every((label) => variablePattern.test(label))) throw new UsageError("--endpoint takes the upper-case name of the environment variable that holds the model's address, such as QWEN_BASE_URL; export it and give its name.")
  const twice = labels.find((label, index) => labels.indexOf(label) !== index)
  if (twice !== undefined) throw new UsageError(`--endpoint names ${twice} twice; name it once.`)
  return labels.map((label) => ({ label }))
}

function keysOf(given: readonly string[], endpoints: readonly Endpoint[]): ReadonlyMap<string, string> {
  const keys = new Map<string, string>()
  for (const text of given) {
    const [label = '', variable = ''] = keyAndValue(text) ?? []
    if (!variablePattern.test(label) || !variablePattern.test(variable)) throw new UsageError('--endpoint-key takes an endpoint and the upper-case name of the environment variable that holds its key, such as QWEN_BASE_URL=QWEN_API_KEY; export the key and give the name.')
    if (!endpoints.some((endpoint) => endpoint.label === label)) throw new UsageError(`--endpoint-key is about ${label}, which no endpoint is called; the endpoints are ${endpoints.map((endpoint) => endpoint.label).join(', ')}.`)
    if (keys.has(label)) throw new UsageError(`--endpoint-key names a key of ${label} twice; name it once.`)
    keys.set(label, variable)
  }
  return keys
}
