import { describe, expect, it } from 'vitest'
import { costUsd } from './cost.ts'
import { EndpointHealth } from './endpoint-health.ts'
import { defaultTimings } from './gateway-options.ts'
import { describeStatus, isRevived, judgeAnswer, streamed } from './judge-answer.ts'
import { pauseMs } from './pauses.ts'
import { readAskedFor } from './request-body.ts'
import { StreamReading } from './stream-reading.ts'
import { tokensOf } from './tokens.ts'
import { UnrecoveredCalls } from './unrecovered-calls.ts'

describe('the pause before a next try', () => {
  const pause = (failures: number, random: number, headers = {}): number => pauseMs({ failures, headers, timings: defaultTimings, random: () => random, nowMs: Date.parse('2026-01-01T00:00:00Z') })

  it('doubles up to its limit, and chance takes at most half of it', () => {
    expect([1, 2, 3, 4, 20].map((failures) => pause(failures, 1))).toEqual([500, 1_000, 2_000, 4_000, 30_000])
    expect(pause(3, 0)).toBe(1_000)
  })

  it.each([
    [{ 'retry-after': '7' }, 7_000],
    [{ 'retry-after': '0.5' }, 500],
    [{ 'retry-after-ms': '20', 'retry-after': '7' }, 20],
    [{ 'retry-after': 'Thu, 01 Jan 2026 00:00:09 GMT' }, 9_000],
    [{ 'retry-after': 'Thu, 01 Jan 2025 00:00:00 GMT' }, 0],
    [{ 'retry-after': '3600' }, 60_000],
    [{ 'retry-after': 'soon' }, 250],
    [{ 'retry-after': '-1' }, 250],
  ])('with %o is %d ms', (headers, ms) => {
    expect(pause(1, 0, headers)).toBe(ms)
  })
})

describe('the judgement of an answer', () => {
  it.each([
    [200, 'answered'], [201, 'answered'], [400, 'rejected'], [405, 'rejected'], [413, 'rejected'], [422, 'rejected'], [429, 'try_again'], [408, 'try_again'],
    [409, 'try_again'], [425, 'try_again'], [500, 'try_again'], [501, 'try_again'], [529, 'try_again'], [301, 'for_good'], [401, 'for_good'], [402, 'for_good'],
    [403, 'for_good'], [404, 'for_good'],
  ] as const)('of a model call with %i is %s', (status, verdict) => {
    expect(judgeAnswer(status, 'openai_chat', status < 300 ? {} : undefined)).toBe(verdict)
    expect(judgeAnswer(status, 'openai_chat', streamed)).toBe(verdict)
  })

  it.each([[200, 'answered'], [403, 'rejected'], [404, 'rejected'], [501, 'rejected'], [401, 'for_good'], [500, 'try_again']] as const)('of another request with %i is %s', (status, verdict) => {
    expect(judgeAnswer(status, 'other', undefined)).toBe(verdict)
  })

  it('tells the word of an error and never its sentence', () => {
    expect(describeStatus(429, { error: { message: 'at http://host', code: 'rate_limit_exceeded', type: 'requests' } })).toBe('status 429 (rate_limit_exceeded)')
    expect(describeStatus(500, { error: { message: 'no', code: 'http://host', type: 'sk-0123456789' } })).toBe('status 500')
  })

  it.each([
    [200, 502, true], [400, 502, true], [404, 502, true], [404, 404, false], [405, 404, false], [400, 400, false], [200, 404, true], [401, 502, false], [429, 429, false], [503, null, false], [200, null, true], [302, 502, false],
  ])('of a probe with %i after %s is %s', (status, cause, revived) => {
    expect(isRevived(status, cause)).toBe(revived)
  })
})

describe('the health of an endpoint', () => {
  const failure = { status: 502, text: 'status 502', forGood: false }

  it('is lost again by one failure after a probe, and each relapse doubles the cool-down until a call is answered', () => {
    const health = new EndpointHealth(3)
    for (const expected of [undefined, undefined, 3]) {
      health.failed(failure)
      expect(health.outage?.failures).toBe(expected)
    }
    expect(health.coolDownMs(defaultTimings)).toBe(5_000)
    health.probed(null)
    expect(health.coolDownMs(defaultTimings)).toBe(10_000)
    health.probed(200)
    expect(health.outage).toBeUndefined()
    health.failed(failure)
    expect(health.outage).toBeDefined()
    expect(health.coolDownMs(defaultTimings)).toBe(20_000)
    health.succeeded()
    health.failed(failure)
    expect([health.outage, health.coolDownMs(defaultTimings)]).toEqual([undefined, 5_000])
  })
})

describe('tokens and cost', () => {
  it.each([
    ['openai_chat', { prompt_tokens: 5, completion_tokens: 2, prompt_tokens_details: { cached_tokens: 3 } }, { input: 5, output: 2, cached_input: 3 }],
    ['openai_chat', { prompt_tokens: 5, completion_tokens: 2, prompt_tokens_details: null }, { input: 5, output: 2 }],
    ['openai_chat', { prompt_tokens: 5 }, null],
    ['openai_chat', { prompt_tokens: -1, completion_tokens: 2 }, null],
    ['openai_chat', { prompt_tokens: '5', completion_tokens: 2 }, null],
    ['openai_responses', { prompt_tokens: 5, completion_tokens: 2 }, null],
    ['anthropic_messages', { input_tokens: 5, output_tokens: 2, cache_read_input_tokens: null }, { input: 5, output: 2 }],
    ['anthropic_messages', { output_tokens: 2 }, null],
  ] as const)('of %s with %o are %o', (api, usage, tokens) => {
    expect(tokensOf(api, usage)).toEqual(tokens)
  })

  it('bill cached tokens like others where the table has no price for them', () => {
    const prices = { schema_version: 1 as const, models: { a: { input: '2', output: '4' } } }
    expect(costUsd(prices, 'a', { input: 1_000, output: 10, cached_input: 900, cache_write: 50 })).toBe(0.00204)
    expect(costUsd(prices, null, { input: 1, output: 1 })).toBeNull()
  })
})

describe('the body of a streamed chat', () => {
  const read = (text: string): string => readAskedFor('openai_chat', Buffer.from(text)).body.toString()

  it.each([
    ['{ "stream": true, "seed": 12345678901234567890}', '{"stream_options":{"include_usage":true}, "stream": true, "seed": 12345678901234567890}'],
    ['{"stream":true,"stream_options":{"include_usage":false,"a":1}}', '{"stream":true,"stream_options":{"include_usage":true,"a":1}}'],
    ['{"stream":true,"stream_options":null}', '{"stream":true,"stream_options":{"include_usage":true}}'],
    ['{"stream":true,"stream_options":{"include_usage":true}}', '{"stream":true,"stream_options":{"include_usage":true}}'],
    ['{"stream":false}', '{"stream":false}'],
    ['[1]', '[1]'],
    ['no json', 'no json'],
  ])('is made from %s to %s', (text, sent) => {
    expect(read(text)).toBe(sent)
  })

  it('of another API stays as it is', () => {
    expect(readAskedFor('openai_responses', Buffer.from('{"stream":true,"model":"m"}'))).toEqual({ model: 'm', stream: true, body: Buffer.from('{"stream":true,"model":"m"}'), addedUsage: false })
  })
})

describe('the reading of a stream', () => {
  const state = (api: 'openai_chat' | 'openai_responses' | 'anthropic_messages', ...events: readonly unknown[]): string => {
    const reading = new StreamReading(api)
    for (const event of events) reading.take(typeof event === 'string' ? event : JSON.stringify(event))
    return reading.state
  }

  it.each([
    ['openai_chat', [{ choices: [{ finish_reason: null }] }], 'begun'],
    ['openai_chat', [{ choices: [{ finish_reason: 'length' }] }, { choices: [], usage: {} }], 'done'],
    ['openai_chat', [{ choices: [{ finish_reason: null }] }, '[DONE]'], 'done'],
    ['openai_chat', ['nonsense', '{broken', { hello: 1 }], 'none'],
    ['openai_chat', [{ error: { type: 'invalid_request_error' } }, '[DONE]'], 'rejected'],
    ['openai_responses', [{ type: 'response.created' }], 'begun'],
    ['openai_responses', [{ type: 'response.created' }, { type: 'response.incomplete', response: {} }], 'done'],
    ['openai_responses', [{ type: 'response.failed', response: { error: { code: 'server_error' } } }], 'failed'],
    ['openai_responses', [{ type: 'error', code: 'server_error', message: 'no' }], 'failed'],
    ['anthropic_messages', [{ type: 'message_start' }, { type: 'message_delta' }], 'begun'],
    ['anthropic_messages', [{ type: 'message_start' }, { type: 'error', error: { type: 'overloaded_error' } }], 'failed'],
  ] as const)('of %s with %j is %s', (api, events, expected) => {
    expect(state(api, ...events)).toBe(expected)
  })
})

describe('unrecovered calls', () => {
  it('are not swallowed by a call that came before they failed, nor while they are repeated', () => {
    const calls = new UnrecoveredCalls()
    calls.arrived('a')
    expect(calls.arrived('b')).toBeUndefined()
    calls.failed('a', 'A failed')
    calls.answered('b')
    calls.arrived('a')
    expect(calls.arrived('c')).toBeUndefined()
    calls.failed('a', 'A failed again')
    expect(calls.arrived('d')?.message).toBe('A failed again, and the agent went on without its answer.')
    calls.arrived('a')
    calls.answered('a')
    expect(calls.failure()).toBe('A failed again, and the agent went on without its answer.')
  })

  it('tell of the first one', () => {
    const calls = new UnrecoveredCalls()
    for (const name of ['a', 'b']) calls.arrived(name)
    for (const name of ['b', 'a']) calls.failed(name, `${name} failed`)
    expect(calls.failure()).toBe('b failed, and no repetition was answered.')
    calls.arrived('b')
    calls.answered('b')
    expect(calls.failure()).toBe('a failed, and no repetition was answered.')
  })

  it('are not those that ended in silence with the agent', () => {
    const calls = new UnrecoveredCalls()
    calls.arrived('a')
    calls.abandoned('a', 'A was silent')
    expect(calls.failure()).toBeUndefined()
  })
})
