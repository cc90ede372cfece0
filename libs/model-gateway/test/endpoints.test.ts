import type { ServerResponse } from 'node:http'
import { describe, expect, it } from 'vitest'
import { anthropic, ask, atEnd, prices, realKey, sendChat, sendError, sendJson, startEndpoint, startScene, until, type Handler } from './fixture.ts'
import { ModelGatewayError, openModelGateway, type GatewayEndpoint } from '../src/index.ts'
import { secret } from '@osworld-e2b/redaction'

const answering: Handler = (_, response) => sendChat(response)

/** Answers as `state.status` says, also to probes. */
function switchable(state: { status: number }): Handler {
  return ({ method }, response) => {
    if (state.status !== 200) sendError(response, state.status)
    else if (method === 'GET') sendJson(response, 200, { data: [] })
    else sendChat(response)
  }
}

describe('rotation', () => {
  it('gives attempts the endpoints in turn, and each keeps its own', async () => {
    const endpoints = [await startEndpoint(answering), await startEndpoint(answering)]
    const scene = await startScene(endpoints)
    const attempts = [scene.open(), scene.open(), scene.open()]
    expect(attempts.map(({ endpoint }) => endpoint)).toEqual(['FIRST_URL', 'SECOND_URL', 'FIRST_URL'])
    for (const text of ['one', 'two']) await Promise.all(attempts.map((attempt) => ask(attempt, text)))
    expect(endpoints.map((endpoint) => endpoint.calls().length)).toEqual([4, 2])
    expect(attempts[1]?.usage().endpoints).toEqual(['SECOND_URL'])
  })

  it('passes by an endpoint that is out', async () => {
    const endpoints = [await startEndpoint(switchable({ status: 401 })), await startEndpoint(answering)]
    const scene = await startScene(endpoints, { timings: { coolDownMs: 3_600_000, longestCoolDownMs: 3_600_000 } })
    await ask(scene.open(), 'hi')
    expect([scene.open().endpoint, scene.open().endpoint]).toEqual(['SECOND_URL', 'SECOND_URL'])
  })
})

describe('fail-over', () => {
  it('sends the next try to another endpoint at once, and later calls to the first one again', async () => {
    const endpoints = [await startEndpoint((seen, response, count) => (count === 1 ? sendError(response, 500) : answering(seen, response, count))), await startEndpoint(answering)]
    const scene = await startScene(endpoints, { timings: { backOffMs: 3_600_000, longestBackOffMs: 3_600_000 } })
    const attempt = scene.open()
    await ask(attempt, 'one')
    await ask(attempt, 'two')
    await attempt.close()
    expect(scene.lines().map(({ endpoint, tries }) => [endpoint, tries])).toEqual([['SECOND_URL', 2], ['FIRST_URL', 1]])
  })

  it('saves a call from an endpoint that refuses its key', async () => {
    const scene = await startScene([await startEndpoint(switchable({ status: 401 })), await startEndpoint(answering)])
    const attempt = scene.open()
    await ask(attempt, 'one')
    expect(await attempt.close()).toMatchObject({ failure: undefined, usage: { requests: 2 } })
    expect(scene.gateway.isHealthy()).toBe(true)
    expect(scene.gateway.health.describe()).toBe('Out of use: FIRST_URL refuses its key (status 401 (told_error)); 1 other may be asked.')
  })
})

describe('health', () => {
  it('is lost after so many failures in a row, and comes back by probes without any call', async () => {
    const state = { status: 502 }
    const endpoint = await startEndpoint(switchable(state))
    const scene = await startScene([endpoint], { failuresUntilOut: 2, callAttempts: 2 })
    expect(scene.gateway.health.describe()).toBe('All model endpoints may be asked.')
    await expect(ask(scene.open(), 'hi')).rejects.toMatchObject({ status: 502 })
    expect(scene.gateway.isHealthy()).toBe(false)
    expect(scene.gateway.health.describe()).toBe('Out of use: FIRST_URL failed 2 times in a row (status 502 (told_error)); no other may be asked.')
    await until(() => endpoint.seen.length >= 4)
    expect(scene.gateway.isHealthy()).toBe(false)
    const changed = scene.gateway.health.changed(3_600_000)
    state.status = 200
    await changed
    expect(scene.gateway.isHealthy()).toBe(true)
    const { seen } = endpoint
    await ask(scene.open(), 'again')
    expect(seen.filter(({ method }) => method === 'GET').every(({ url, headers }) => url === '/v1/models' && headers.authorization === `Bearer ${realKey}`)).toBe(true)
    expect(scene.gateway.requestsSent()).toBe(3)
  })

  it('is not lost by failures with answers in between', async () => {
    const endpoint = await startEndpoint((_, response, count) => (count % 2 === 1 ? sendError(response, 500) : sendChat(response)))
    const scene = await startScene([endpoint], { failuresUntilOut: 2 })
    const attempt = scene.open()
    for (const text of ['one', 'two', 'three']) await ask(attempt, text)
    expect(endpoint.seen).toHaveLength(6)
  })

  it('lost during a call lets the call wait for it, so that an outage does not use up its tries', async () => {
    const state = { status: 503 }
    const endpoint = await startEndpoint(switchable(state))
    const scene = await startScene([endpoint], { failuresUntilOut: 1, callAttempts: 2 })
    const attempt = scene.open()
    const answer = ask(attempt, 'hi')
    await until(() => endpoint.seen.filter(({ method }) => method === 'GET').length >= 3)
    state.status = 200
    await answer
    await attempt.close()
    expect(scene.lines()[0]).toMatchObject({ tries: 2, outcome: 'answered' })
  })

  it('that does not come back in time fails a call without asking', async () => {
    const endpoint = await startEndpoint(switchable({ status: 503 }))
    const scene = await startScene([endpoint], { failuresUntilOut: 1, callAttempts: 1, timings: { outageMs: 20 } })
    await expect(ask(scene.open(), 'hi')).rejects.toMatchObject({ status: 503 })
    const attempt = scene.open()
    await expect(ask(attempt, 'hi')).rejects.toMatchObject({ status: 503, error: { message: 'No model endpoint could be asked for a call.' } })
    expect(await attempt.close()).toMatchObject({ failure: 'No model endpoint could be asked for a call, and no repetition was answered.', usage: { requests: 0, failed_calls: 1 } })
  })

  it('is probed as Anthropic reads its key once a call came in that style', async () => {
    const state = { status: 401 }
    const endpoint = await startEndpoint(switchable(state))
    const scene = await startScene([endpoint])
    const create = anthropic(scene.open()).messages.create({ model: 'small', max_tokens: 1, messages: [{ role: 'user', content: 'hi' }] })
    await expect(create).rejects.toMatchObject({ status: 401 })
    await until(() => endpoint.seen.length > 1)
    expect(endpoint.seen[1]).toMatchObject({ method: 'GET', url: '/v1/models', headers: { 'x-api-key': realKey, 'anthropic-version': '2023-06-01' } })
    state.status = 200
    await until(() => scene.gateway.isHealthy())
  })

  it('is waited for no longer than asked', async () => {
    const scene = await startScene([await startEndpoint(answering)])
    await scene.gateway.health.changed(1)
    expect(scene.gateway.isHealthy()).toBe(true)
  })
})

describe('a limit of concurrent requests', () => {
  it('is kept, and every call gets its turn', async () => {
    const held: ServerResponse[] = []
    const endpoint = await startEndpoint((_, response) => void held.push(response))
    const scene = await startScene([], { endpoints: [{ label: 'ONLY_URL', url: endpoint.url, maxConcurrentRequests: 2 }] })
    const attempt = scene.open()
    const answers = ['1', '2', '3', '4', '5'].map((text) => ask(attempt, text))
    for (let count = 0; count < 5; count += 1) {
      await until(() => held.length >= Math.min(5, 2 + count))
      const response = held[count]
      if (response !== undefined) sendChat(response)
    }
    await Promise.all(answers)
    expect(endpoint.mostAtOnce()).toBe(2)
    expect(endpoint.seen).toHaveLength(5)
    expect(endpoint.seen[0]?.headers.authorization).toBeUndefined()
  })

  it('sends those who wait to another endpoint when theirs goes out', async () => {
    const held: ServerResponse[] = []
    const slow = await startEndpoint((_, response) => void held.push(response))
    const other = await startEndpoint(answering)
    const endpoints = [{ label: 'SLOW_URL', url: slow.url, maxConcurrentRequests: 1 }, { label: 'OTHER_URL', url: other.url }]
    const scene = await startScene([], { endpoints, failuresUntilOut: 1 })
    const attempt = scene.open()
    const answers = [ask(attempt, 'one'), ask(attempt, 'two'), ask(attempt, 'three')]
    await until(() => held.length === 1)
    held[0]?.socket?.resetAndDestroy()
    await Promise.all(answers)
    expect(other.calls().length).toBe(3)
  })
})

describe('opening', () => {
  const open = (endpoints: readonly GatewayEndpoint[]): Promise<unknown> =>
    openModelGateway({ endpoints, callAttempts: 1, requestsBefore: 0, prices, keepContent: false }).then((gateway) => {
      atEnd(() => gateway.close())
      return gateway
    })

  it.each([
    [[], 'The model gateway has no endpoint to ask; name at least one.'],
    [[{ label: 'A_URL', url: 'host/v1' }], 'The model endpoint A_URL is no http or https address; write it like https://host/v1.'],
    [[{ label: 'A_URL', url: 'ftp://host/v1' }], 'The model endpoint A_URL is no http or https address; write it like https://host/v1.'],
    [[{ label: 'A_URL', url: 'https://me:word@host/v1' }], 'The address of the model endpoint A_URL holds a user, a password or a fragment; give its key apart.'],
    [[{ label: 'A_URL', url: 'http://a/v1' }, { label: 'A_URL', url: 'http://b/v1' }], 'The model endpoint A_URL is named twice; name it once.'],
  ])('refuses %j', async (endpoints, message) => {
    await expect(open(endpoints)).rejects.toEqual(new ModelGatewayError('invalid_endpoint', message))
  })

  it('refuses a key that is too short to be hidden', async () => {
    await expect(open([{ label: 'A_URL', url: 'http://a/v1', apiKey: secret('abc', 'A_KEY') }])).rejects.toThrow('The secret "A_KEY" has under 4 characters')
  })
})
