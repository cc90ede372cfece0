import type { Agent, AgentSettings, Contract, ContractFile } from '@osworld-e2b/contracts'
import { UsageError } from '../usage-error.ts'
import type { RunArguments } from './arguments.ts'
import { keyAndValue } from './typed-values.ts'

/** As a contract or a recorded run has it. */
export type WrittenAgent = ContractFile['scoring']['agent'] | Contract['scoring']['agent']

export interface AgentOptions {
  readonly agent: Agent['kind']
  /** Of the flags, the contract, or the run that is resumed; absent for the kinds that have nothing to say besides their kind and scripts. */
  readonly writtenAgent: WrittenAgent | undefined
}

const classPattern = /^[A-Za-z_][\w.]*:[A-Za-z_]\w*$/
const namePattern = /^[a-z][a-z0-9_-]*$/

/** Flags about an agent that asks a model. */
const modelFlags = {
  model: '--model', agentSetting: '--agent-setting', agentName: '--agent-name', agentPath: '--agent-path', agentUrl: '--agent-url', endpoint: '--endpoint', endpointKey: '--endpoint-key',
  endpointConcurrency: '--endpoint-concurrency', modelCallAttempts: '--model-call-attempts', keepModelContent: '--keep-model-content',
} as const

/** Who acts: as typed, else as `known` has it, else the suite's scripts. */
export function agentOptions(given: RunArguments, known: WrittenAgent | undefined): AgentOptions {
  const options = given.agent === undefined ? { agent: known?.kind ?? ('scripted' as const), writtenAgent: known } : typedAgent(given.agent, given)
  refuseForeignFlags(options.agent, given)
  return options
}

function typedAgent(agent: string, given: RunArguments): AgentOptions {
  if (agent === 'scripted' || agent === 'none') return { agent, writtenAgent: undefined }
  const settings = settingsOf(given.agentSetting ?? [])
  if (agent === 'http') {
    const { agentName: name = 'http', model } = given
    return { agent, writtenAgent: { kind: agent, name: filled('--agent-name', name), ...(model === undefined ? {} : { model: filled('--model', model) }), settings } }
  }
  if (!classPattern.test(agent) && !namePattern.test(agent)) {
    throw new UsageError(`--agent ${agent} is unknown; it takes scripted, none, http, module:Class, or the name of one of OSWorld's agents, such as qwen3vl.`)
  }
  const model = modelOf(agent, given)
  if (agent.includes(':')) return { agent: 'module', writtenAgent: { kind: 'module', class: agent, model, settings } }
  return { agent: 'upstream', writtenAgent: { kind: 'upstream', name: agent, model, settings } }
}

function modelOf(agent: string, { model }: RunArguments): string {
  if (model === undefined) throw new UsageError(`--agent ${agent} asks a model; name it with --model.`)
  return filled('--model', model)
}

function filled(flag: string, value: string): string {
  if (value === '') throw new UsageError(`${flag} needs a name.`)
  return value
}

function refuseForeignFlags(agent: Agent['kind'], given: RunArguments): void {
  const isTyped = (name: keyof typeof modelFlags) => given[name] !== undefined
  const typed = (Object.keys(modelFlags) as (keyof typeof modelFlags)[]).find(isTyped)
  if (typed === undefined) return
  if (agent === 'scripted' || agent === 'none') throw new UsageError(`${modelFlags[typed]} is about an agent that asks a model, and the agent ${agent} asks none; name another with --agent, or leave ${modelFlags[typed]} out.`)
  if (isTyped('agentPath') && agent !== 'module') throw new UsageError('--agent-path is where the module of an agent module:Class lies; name that with --agent, or leave --agent-path out.')
  for (const name of ['agentUrl', 'agentName'] as const) {
    if (isTyped(name) && agent !== 'http') throw new UsageError(`${modelFlags[name]} is about an agent that is asked over HTTP; give --agent http, or leave ${modelFlags[name]} out.`)
  }
  // What a contract or a recorded run says of its agent is changed there, and not half by flags.
  const detail = (['model', 'agentSetting', 'agentName'] as const).find(isTyped)
  if (given.agent === undefined && detail !== undefined) throw new UsageError(`${modelFlags[detail]} needs --agent beside it; name the agent that it is about.`)
}

function settingsOf(given: readonly string[]): AgentSettings {
  const settings = new Map<string, AgentSettings[string]>()
  for (const text of given) {
    const [key = '', value = ''] = keyAndValue(text) ?? []
    if (!/^[a-z][a-z0-9_]*$/.test(key)) throw new UsageError(`--agent-setting ${text} is not key=value with a key of lower-case letters, digits and underscores, such as max_tokens=2048.`)
    if (settings.has(key)) throw new UsageError(`--agent-setting gives ${key} twice; give it once.`)
    settings.set(key, settingValue(value))
  }
  return Object.fromEntries(settings)
}

/** Fractions stay text, since a contract is hashed and languages print them differently; so does a number that is written unusually. */
function settingValue(text: string): AgentSettings[string] {
  if (text === 'true' || text === 'false') return text === 'true'
  return /^(0|-?[1-9]\d*)$/.test(text) && Number.isSafeInteger(Number(text)) ? Number(text) : text
}
