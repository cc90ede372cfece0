import { type ContractFile, contractFileSchema } from '@osworld-e2b/contracts'
import { describe, expect, test } from 'vitest'
import { UsageError } from '../usage-error.ts'
import { agentOptions } from './agent-options.ts'
import type { RunArguments } from './arguments.ts'

type Known = ContractFile['scoring']['agent']

function options(given: Partial<RunArguments>, known?: Known) {
  return agentOptions({ record: true, ...given }, known)
}

describe('--agent', () => {
  test('names scripts, nothing, an HTTP agent, a class, or one of the agents of OSWorld', () => {
    expect(options({})).toEqual({ agent: 'scripted', writtenAgent: undefined })
    expect(options({ agent: 'none' })).toEqual({ agent: 'none', writtenAgent: undefined })
    expect(options({ agent: 'http' }).writtenAgent).toEqual({ kind: 'http', name: 'http', settings: {} })
    expect(options({ agent: 'http', agentName: 'theirs', model: 'm', agentUrl: 'http://127.0.0.1:1' }).writtenAgent).toEqual({ kind: 'http', name: 'theirs', model: 'm', settings: {} })
    expect(options({ agent: 'agents.mine:Agent', model: 'm', agentPath: '/agents' })).toEqual({ agent: 'module', writtenAgent: { kind: 'module', class: 'agents.mine:Agent', model: 'm', settings: {} } })
    expect(options({ agent: 'qwen3vl', model: 'm' })).toEqual({ agent: 'upstream', writtenAgent: { kind: 'upstream', name: 'qwen3vl', model: 'm', settings: {} } })
  })

  test('makes an agent that a contract may hold', () => {
    for (const agent of ['http', 'a:B', 'qwen3vl']) {
      const { writtenAgent } = options({ agent, model: 'm', agentSetting: ['max_tokens=5', 'top_p=0.9', 'think=true'] })
      expect(contractFileSchema.shape.scoring.shape.agent.parse(writtenAgent)).toEqual(writtenAgent)
    }
  })

  test('goes before the agent of a contract or an earlier run, which stands without it', () => {
    const known: Known = { kind: 'upstream', name: 'qwen3vl', model: 'm', settings: {} }
    expect(options({}, known)).toEqual({ agent: 'upstream', writtenAgent: known })
    expect(options({ agent: 'none' }, known)).toEqual({ agent: 'none', writtenAgent: undefined })
  })
})

test('settings are whole numbers, true, false, and text for all else', () => {
  const agentSetting = ['count=12', 'less=-3', 'none=0', 'think=false', 'top_p=0.9', 'padded=007', 'big=90071992547409930', 'text=a=b', 'empty=']
  expect(options({ agent: 'qwen3vl', model: 'm', agentSetting }).writtenAgent).toMatchObject({
    settings: { count: 12, less: -3, none: 0, think: false, top_p: '0.9', padded: '007', big: '90071992547409930', text: 'a=b', empty: '' },
  })
})

test.each<[Partial<RunArguments>, string]>([
  [{ agent: 'GPT 5' }, "--agent GPT 5 is unknown; it takes scripted, none, http, module:Class, or the name of one of OSWorld's agents, such as qwen3vl."],
  [{ agent: 'a:b:C' }, "--agent a:b:C is unknown; it takes scripted, none, http, module:Class, or the name of one of OSWorld's agents, such as qwen3vl."],
  [{ agent: 'qwen3vl' }, '--agent qwen3vl asks a model; name it with --model.'],
  [{ agent: 'qwen3vl', model: '' }, '--model needs a name.'],
  [{ model: 'm' }, '--model is about an agent that asks a model, and the agent scripted asks none; name another with --agent, or leave --model out.'],
  [{ agent: 'none', endpoint: ['A'] }, '--endpoint is about an agent that asks a model, and the agent none asks none; name another with --agent, or leave --endpoint out.'],
  [{ agent: 'qwen3vl', model: 'm', agentPath: '/agents' }, '--agent-path is where the module of an agent module:Class lies; name that with --agent, or leave --agent-path out.'],
  [{ agent: 'qwen3vl', model: 'm', agentUrl: 'http://127.0.0.1:1' }, '--agent-url is about an agent that is asked over HTTP; give --agent http, or leave --agent-url out.'],
  [{ agent: 'qwen3vl', model: 'm', agentSetting: ['Top=1'] }, '--agent-setting Top=1 is not key=value with a key of lower-case letters, digits and underscores, such as max_tokens=2048.'],
  [{ agent: 'qwen3vl', model: 'm', agentSetting: ['top'] }, '--agent-setting top is not key=value with a key of lower-case letters, digits and underscores, such as max_tokens=2048.'],
  [{ agent: 'qwen3vl', model: 'm', agentSetting: ['a=1', 'a=2'] }, '--agent-setting gives a twice; give it once.'],
])('%o is refused', (given, sentence) => {
  expect(() => options(given)).toThrow(new UsageError(sentence))
})

test('the agent of an earlier run is not changed by half', () => {
  expect(() => options({ model: 'other' }, { kind: 'upstream', name: 'qwen3vl', model: 'm', settings: {} })).toThrow(new UsageError('--model needs --agent beside it; name the agent that it is about.'))
})
