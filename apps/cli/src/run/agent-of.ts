import type { AttemptAgent, ScoringIdentity, ScriptedAction } from '@osworld-e2b/contracts'
import { UsageError } from '../usage-error.ts'
import type { WrittenAgent } from './agent-options.ts'
import { type RunnerPlace, runnerAgent } from './runner-agent.ts'

export interface AgentScoring extends Pick<ScoringIdentity, 'max_steps' | 'screen'> {
  readonly agent: WrittenAgent
}

/** What of this machine an agent needs; each kind takes what is its own. */
export interface AgentPlaces {
  /** Of the task at hand. */
  readonly script?: readonly ScriptedAction[] | undefined
  readonly runner?: RunnerPlace | undefined
  /** Where a module lies, absolute. */
  readonly agentFolder?: string | undefined
  readonly agentUrl?: string | undefined
}

/** What an attempt is told of its agent; refuses an agent whose files or address were not given. */
export function attemptAgentOf(scoring: AgentScoring, places: AgentPlaces): AttemptAgent {
  const { agent } = scoring
  switch (agent.kind) {
    case 'none':
      return { kind: agent.kind }
    case 'scripted':
      if (places.script === undefined) throw new Error('A scripted agent was planned without its script.')
      return { kind: agent.kind, actions: [...places.script] }
    case 'upstream_runner':
      if (places.runner === undefined) throw new Error('A runner of OSWorld was planned without its tree.')
      return runnerAgent({ ...scoring, agent }, places.runner)
    case 'upstream':
      return { kind: agent.kind, name: agent.name, model: agent.model, settings: agent.settings }
    case 'module':
      return { kind: agent.kind, class: agent.class, ...moduleFolder(agent.source_sha256, places.agentFolder), model: agent.model, settings: agent.settings }
    case 'http':
      return { kind: agent.kind, url: requireUrl(agent.name, places.agentUrl), name: agent.name, ...(agent.model === undefined ? {} : { model: agent.model }), settings: agent.settings }
  }
}

function moduleFolder(sourceSha256: string | undefined, folder: string | undefined): { readonly folder?: string } {
  if (folder !== undefined) return { folder }
  if (sourceSha256 === undefined) return {}
  throw new UsageError('scoring.agent.source_sha256 is given, so the class lies in a folder of yours; name that with --agent-path, or take the digest out for a class of the package itself.')
}

function requireUrl(name: string, url: string | undefined): string {
  if (url !== undefined && url !== '') return url
  throw new UsageError(`The agent ${name} is asked over HTTP, and its address is not known; give it with --agent-url, or in the environment variable that operation.agent_url_variable names.`)
}
