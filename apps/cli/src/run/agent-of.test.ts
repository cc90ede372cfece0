import { attemptConfigSchema } from '@osworld-e2b/contracts'
import { expect, test } from 'vitest'
import { UsageError } from '../usage-error.ts'
import type { WrittenAgent } from './agent-options.ts'
import { type AgentPlaces, attemptAgentOf } from './agent-of.ts'

function agentOf(agent: WrittenAgent, places: AgentPlaces = {}) {
  return attemptAgentOf({ agent, max_steps: 50, screen: { width: 1920, height: 1080 } }, places)
}

const settings = { top_p: '0.9' }
const sha256 = 'a'.repeat(64)
const runner = { checkout: '/osworld', source: { repository: 'r', commit: 'c' }, clientPassword: 'password' }

test.each<[WrittenAgent, AgentPlaces, object]>([
  [{ kind: 'none' }, {}, { kind: 'none' }],
  [{ kind: 'scripted', scripts: 'solve' }, { script: ['DONE'] }, { kind: 'scripted', actions: ['DONE'] }],
  [{ kind: 'upstream', name: 'qwen3vl', model: 'm', model_repository: 'r', settings }, {}, { kind: 'upstream', name: 'qwen3vl', model: 'm', settings }],
  [{ kind: 'module', class: 'mine:Agent', source_sha256: sha256, model: 'm', settings }, { agentFolder: '/agents' }, { kind: 'module', class: 'mine:Agent', folder: '/agents', model: 'm', settings }],
  [{ kind: 'module', class: 'mm_agents.agent:PromptAgent', model: 'm', settings }, {}, { kind: 'module', class: 'mm_agents.agent:PromptAgent', model: 'm', settings }],
  [{ kind: 'http', name: 'theirs', version: '2', settings }, { agentUrl: 'http://127.0.0.1:9100' }, { kind: 'http', url: 'http://127.0.0.1:9100', name: 'theirs', settings }],
  [{ kind: 'http', name: 'theirs', model: 'm', settings }, { agentUrl: 'http://127.0.0.1:9100' }, { kind: 'http', url: 'http://127.0.0.1:9100', name: 'theirs', model: 'm', settings }],
  [{ kind: 'upstream_runner', runner: 'run.py', model: 'm', settings }, { runner }, { kind: 'upstream_runner', checkout: '/osworld', source: runner.source, runner: 'run.py', model: 'm', arguments: { top_p: '0.9', max_steps: '50', screen_width: '1920', screen_height: '1080', client_password: 'password' } }],
])('%o is told to an attempt as the protocol has it', (agent, places, expected) => {
  const told = agentOf(agent, places)
  expect(told).toEqual(expected)
  expect(attemptConfigSchema.shape.agent.parse(told)).toEqual(expected)
})

test.each<[WrittenAgent, AgentPlaces, string]>([
  [{ kind: 'module', class: 'mine:Agent', source_sha256: sha256, model: 'm', settings }, {}, 'scoring.agent.source_sha256 is given, so the class lies in a folder of yours; name that with --agent-path, or take the digest out for a class of the package itself.'],
  [{ kind: 'http', name: 'theirs', settings }, { agentUrl: '' }, 'The agent theirs is asked over HTTP, and its address is not known; give it with --agent-url, or in the environment variable that operation.agent_url_variable names.'],
])('%o without its place is refused', (agent, places, sentence) => {
  expect(() => agentOf(agent, places)).toThrow(new UsageError(sentence))
})
