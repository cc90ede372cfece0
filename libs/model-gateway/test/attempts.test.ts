import { existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ServerResponse } from 'node:http'
import { describe, expect, it } from 'vitest'
import { aborted, anthropic, ask, atEnd, openAi, raw, readCalls, realKey, sendChat, sendError, sendJson, startEndpoint, startScene, until, type Handler } from './fixture.ts'
import { ModelGatewayError, type AttemptModel } from '../src/index.ts'

const failing: Handler = (_, response) => sendError(response, 500)
/** Fails for each call whose text says so. */
const failingWhenAsked: Handler = ({ body }, response) => (body.includes('fail') ? sendError(response, 500) : sendChat(response))

describe('a failed call', () => {
  it('that the agent swallows aborts the attempt as soon as it goes on', async () => {
    const scene = await startScene([await startEndpoint(failingWhenAsked)], { failuresUntilOut: 100 })
    const attempt = scene.open()
    await expect(ask(attempt, 'fail')).rejects.toMatchObject({ status: 500 })
    expect(attempt.swallowed.aborted).toBe(false)
    await ask(attempt, 'go on')
    const sentence = 'The model endpoint FIRST_URL failed a call for good (status 500 (told_error); 3 tries), and the agent went on without its answer.'
    expect(await aborted(attempt.swallowed)).toEqual(new ModelGatewayError('model_unavailable', sentence))
    expect(await attempt.close()).toMatchObject({ failure: sentence, usage: { calls: 2, failed_calls: 1 } })
  })

  it('that the agent repeats with success is recovered', async () => {
    const endpoint = await startEndpoint((_, response, count) => (count <= 3 ? sendError(response, 500) : sendChat(response)))
    const scene = await startScene([endpoint], { failuresUntilOut: 100 })
    const attempt = scene.open()
    await expect(ask(attempt, 'same')).rejects.toMatchObject({ status: 500 })
    await ask(attempt, 'same')
    await ask(attempt, 'next')
    expect(attempt.swallowed.aborted).toBe(false)
    expect(await attempt.close()).toMatchObject({ failure: undefined, usage: { calls: 3, requests: 5, failed_calls: 1 } })
  })

  it('that the agent repeats in vain stays unrecovered', async () => {
    const scene = await startScene([await startEndpoint(failing)], { callAttempts: 1, failuresUntilOut: 100 })
    const attempt = scene.open()
    for (const text of ['same', 'same']) await expect(ask(attempt, text)).rejects.toMatchObject({ status: 500 })
    expect(attempt.swallowed.aborted).toBe(false)
    expect((await attempt.close()).failure).toBe('The model endpoint FIRST_URL failed a call for good (status 500 (told_error); 1 try), and no repetition was answered.')
  })

  it('of one attempt does not concern another', async () => {
    const scene = await startScene([await startEndpoint(failingWhenAsked)], { failuresUntilOut: 100 })
    const [one, two] = [scene.open(), scene.open()]
    await expect(ask(one, 'fail')).rejects.toMatchObject({ status: 500 })
    await ask(two, 'go on')
    expect([one.swallowed.aborted, two.swallowed.aborted]).toEqual([false, false])
    expect((await two.close()).failure).toBeUndefined()
  })

  it('is not swallowed by a question for the list of models', async () => {
    const scene = await startScene([await startEndpoint(failingWhenAsked)], { failuresUntilOut: 100 })
    const attempt = scene.open()
    await expect(ask(attempt, 'fail')).rejects.toMatchObject({ status: 500 })
    await openAi(attempt).models.list()
    expect(attempt.swallowed.aborted).toBe(false)
  })

  it('is swallowed as well by an agent that lost patience while it was tried again', async () => {
    const endpoint = await startEndpoint(failingWhenAsked)
    const scene = await startScene([endpoint], { failuresUntilOut: 100, timings: { backOffMs: 3_600_000, longestBackOffMs: 3_600_000 } })
    const attempt = scene.open()
    const patience = new AbortController()
    const impatient = openAi(attempt).chat.completions.create({ model: 'small', messages: [{ role: 'user', content: 'fail' }] }, { signal: patience.signal })
    await until(() => endpoint.seen.length === 1 && endpoint.openNow() === 0)
    patience.abort()
    await expect(impatient).rejects.toThrow()
    await until(() => attempt.usage().calls === 1)
    await ask(attempt, 'go on')
    expect((await aborted(attempt.swallowed)).message).toBe(
      'The model endpoint FIRST_URL failed a call until the agent gave it up (status 500 (told_error); 1 try), and the agent went on without its answer.',
    )
  })
})

describe('a call that the agent gives up', () => {
  async function goesOnAfterLeaving(silenceMs: number): Promise<AttemptModel> {
    const endpoint = await startEndpoint(({ body }, response) => (body.includes('wait') ? undefined : sendChat(response)))
    const attempt = (await startScene([endpoint], { timings: { silenceMs } })).open()
    const patience = new AbortController()
    const answer = openAi(attempt).chat.completions.create({ model: 'small', messages: [{ role: 'user', content: 'wait' }] }, { signal: patience.signal })
    await until(() => endpoint.openNow() === 1)
    patience.abort()
    await expect(answer).rejects.toThrow()
    await until(() => attempt.usage().calls === 1)
    await ask(attempt, 'go on')
    return attempt
  }

  it('after a long silence is swallowed when it goes on', async () => {
    const sentence = 'The model endpoint FIRST_URL failed a call until the agent gave it up (no answer; 1 try), and the agent went on without its answer.'
    const attempt = await goesOnAfterLeaving(0)
    expect((await aborted(attempt.swallowed)).message).toBe(sentence)
    expect((await attempt.close()).failure).toBe(sentence)
  })

  it('soon is its own doing', async () => {
    const attempt = await goesOnAfterLeaving(3_600_000)
    expect(attempt.swallowed.aborted).toBe(false)
    expect((await attempt.close()).failure).toBeUndefined()
  })

  it('after a try of it had failed is a failure also when nothing follows', async () => {
    const endpoint = await startEndpoint(failing)
    const scene = await startScene([endpoint], { failuresUntilOut: 1, timings: { backOffMs: 3_600_000, longestBackOffMs: 3_600_000, coolDownMs: 3_600_000 } })
    const attempt = scene.open()
    const answer = ask(attempt, 'hi')
    const settled = expect(answer).rejects.toThrow()
    await until(() => !scene.gateway.isHealthy())
    const { failure } = await attempt.close()
    await settled
    expect(failure).toBe('The model endpoint FIRST_URL failed a call until the agent gave it up (status 500 (told_error); 1 try), and no repetition was answered.')
  })
})

describe('the cap of requests', () => {
  it('refuses a call beyond it without sending anything, and aborts the attempt', async () => {
    const endpoint = await startEndpoint((_, response) => sendChat(response))
    const scene = await startScene([endpoint], { requestCap: 12, requestsBefore: 10 })
    const attempt = scene.open()
    await ask(attempt, 'one')
    await ask(attempt, 'two')
    expect(scene.gateway.requestsSent()).toBe(12)
    const sentence = "The run's budget of 12 model requests is used up."
    await expect(ask(attempt, 'three')).rejects.toMatchObject({ status: 429, code: 'insufficient_quota', error: { message: sentence } })
    expect(await aborted(attempt.swallowed)).toEqual(new ModelGatewayError('budget', sentence))
    expect(endpoint.seen).toHaveLength(2)
    expect(scene.gateway.requestsSent()).toBe(12)
    expect(await attempt.close()).toMatchObject({ failure: sentence, usage: { calls: 3, requests: 2 } })
    expect(scene.lines()[2]).toMatchObject({ outcome: 'refused', status: 429, tries: 0, endpoint: null })
  })

  it('counts tries, and holds for many calls at once', async () => {
    const endpoint = await startEndpoint((_, response, count) => (count % 2 === 0 ? sendError(response, 500) : sendChat(response)))
    const scene = await startScene([endpoint], { requestCap: 7, failuresUntilOut: 100, callAttempts: 10 })
    const attempts = [scene.open(), scene.open(), scene.open()]
    const ends = await Promise.allSettled(attempts.flatMap((attempt) => ['a', 'b', 'c', 'd'].map((text) => ask(attempt, text))))
    expect(endpoint.seen).toHaveLength(7)
    expect(ends.filter(({ status }) => status === 'fulfilled')).toHaveLength(4)
    expect(attempts.every(({ swallowed }) => swallowed.aborted)).toBe(true)
  })
})

describe('a key', () => {
  it('is of one attempt, in the environment of both kinds of clients, and ends with it', async () => {
    const scene = await startScene([await startEndpoint((_, response) => sendChat(response))])
    const [one, two] = [scene.open(), scene.gateway.openAttempt({ callsFile: `${scene.callsFile}.two` })]
    expect(one.key).toMatch(/^osw-[0-9a-f]{48}$/)
    expect(one.key).not.toBe(two.key)
    expect(one.environment).toEqual({
      OPENAI_BASE_URL: `${scene.gateway.origin}/v1`, OPENAI_API_BASE: `${scene.gateway.origin}/v1`, OPENAI_API_KEY: one.key,
      ANTHROPIC_BASE_URL: scene.gateway.origin, ANTHROPIC_API_KEY: one.key,
    })
    await ask(one, 'hi')
    await ask(two, 'hi')
    await ask(two, 'again')
    await one.close()
    await two.close()
    expect([readCalls(scene.callsFile).length, readCalls(`${scene.callsFile}.two`).length]).toEqual([1, 2])
    await expect(ask(one, 'late')).rejects.toMatchObject({ status: 401 })
  })

  it('that is unknown is refused in the shape of each API, and nothing is sent', async () => {
    const endpoint = await startEndpoint((_, response) => sendChat(response))
    const scene = await startScene([endpoint])
    const message = 'The key is not valid here; a key is good for one attempt while it runs.'
    const stranger = { ...scene.open(), environment: { OPENAI_BASE_URL: `${scene.gateway.origin}/v1`, OPENAI_API_KEY: realKey, ANTHROPIC_BASE_URL: scene.gateway.origin, ANTHROPIC_API_KEY: realKey } }
    await expect(ask(stranger, 'hi')).rejects.toMatchObject({ status: 401, error: { message, type: 'authentication_error' } })
    const create = anthropic(stranger).messages.create({ model: 'small', max_tokens: 1, messages: [{ role: 'user', content: 'hi' }] })
    await expect(create).rejects.toMatchObject({ status: 401, error: { type: 'error', error: { type: 'authentication_error', message } } })
    expect(endpoint.seen).toEqual([])
  })

  it.each([
    ['a web page', { origin: 'http://evil.example' }, 403],
    ['a web page of a rebound name', { host: 'evil.example' }, 403],
    ['no key', { authorization: '' }, 401],
  ])('does not help %s', async (_, extra, status) => {
    const endpoint = await startEndpoint((_seen, response) => sendChat(response))
    const scene = await startScene([endpoint])
    const headers = { authorization: `Bearer ${scene.open().key}`, ...extra }
    expect(await raw(scene.gateway.origin, '/v1/chat/completions', { method: 'POST', headers, body: '{}' })).toMatchObject({ status })
    expect(endpoint.seen).toEqual([])
  })

  it.each(['/', '/v1', '/v2/models', '/v1/../admin', '/v1/%2e%2e/admin', '/v1/models/..%2f..%2fadmin', 'http://evil.example/admin'])('opens no path outside: %s', async (path) => {
    const endpoint = await startEndpoint((_, response) => sendChat(response))
    const scene = await startScene([endpoint])
    const headers = { authorization: `Bearer ${scene.open().key}` }
    expect(await raw(scene.gateway.origin, path, { headers })).toMatchObject({ status: 404 })
    expect(endpoint.seen).toEqual([])
  })

  it('of the operator is in no answer, header, record or sentence, and neither is the address', async () => {
    let address = ''
    const endpoint = await startEndpoint(({ body, headers }, response) => {
      const echo = `${String(headers.authorization)} at ${address}`
      const status = body.includes('fail') ? 500 : body.includes('reject') ? 400 : 200
      const told = status === 200 ? { choices: [], id: echo } : { error: { message: echo, type: 'told_error', code: realKey } }
      sendJson(response, status, told, { 'x-request-id': echo, 'set-cookie': realKey, location: address })
    })
    address = new URL(endpoint.url).host
    const scene = await startScene([endpoint], { callAttempts: 1, keepContent: true })
    const attempt = scene.open()
    const headers = { authorization: `Bearer ${attempt.key}`, cookie: 'a=b' }
    const texts: string[] = []
    for (const body of ['{"a":"reject"}', '{"a":"fail"}', '{"a":"answer"}']) {
      const answer = await raw(scene.gateway.origin, '/v1/chat/completions', { method: 'POST', headers, body })
      if (!body.includes('answer')) expect(answer.body).not.toContain(address)
      texts.push(JSON.stringify(answer))
    }
    const end = await attempt.close()
    texts.push(JSON.stringify(scene.lines().slice(0, 2)), end.failure ?? '', scene.gateway.health.describe())
    for (const text of [...texts, readFileSync(scene.callsFile, 'utf8')]) expect(text).not.toContain(realKey)
    for (const text of texts.slice(3)) expect(text).not.toContain(address)
    expect(endpoint.seen[0]?.headers).not.toHaveProperty('cookie')
    expect(JSON.stringify(endpoint.seen.map((seen) => seen.headers))).not.toContain(attempt.key)
  })
})

describe('closing an attempt', () => {
  it('abandons what is under way, which is no failure, and breaks the requests to the endpoint off', async () => {
    const endpoint = await startEndpoint(() => undefined)
    const scene = await startScene([endpoint])
    const attempt = scene.open()
    const answer = ask(attempt, 'hi')
    await until(() => endpoint.openNow() === 1)
    const settled = expect(answer).rejects.toThrow()
    expect(await attempt.close()).toMatchObject({ failure: undefined, usage: { calls: 1, requests: 1, failed_calls: 0 } })
    await settled
    await until(() => endpoint.openNow() === 0)
    expect(scene.lines()[0]).toMatchObject({ outcome: 'abandoned', status: null, tries: 1, endpoint: 'FIRST_URL', tokens: null, cost_usd: null })
  })

  it('is no failure either when the agent was killed during a stream', async () => {
    const endpoint = await startEndpoint((_, response) => void response.writeHead(200, { 'content-type': 'text/event-stream' }).write('data: {"choices":[]}\n\n'))
    const scene = await startScene([endpoint])
    const attempt = scene.open()
    const stream = await openAi(attempt).chat.completions.create({ model: 'small', messages: [], stream: true })
    for await (const chunk of stream) {
      expect(chunk.choices).toEqual([])
      break
    }
    await until(() => attempt.usage().calls === 1)
    expect(await attempt.close()).toMatchObject({ failure: undefined })
    expect(scene.lines()[0]).toMatchObject({ outcome: 'abandoned' })
  })

  it('can be asked for twice, and the gateway can be closed with attempts open', async () => {
    const scene = await startScene([await startEndpoint((_, response) => sendChat(response))])
    const [one, two] = [scene.open(), scene.open()]
    await ask(one, 'hi')
    await ask(two, 'hi')
    expect(await one.close()).toEqual(await one.close())
    await scene.gateway.close()
    await scene.gateway.close()
    expect(scene.lines()).toHaveLength(2)
    expect(() => scene.open()).toThrow('The model gateway is closed; open a new one for further attempts.')
  })
})

describe('an attempt', () => {
  it('has at most 16 calls under way; the others wait', async () => {
    const held: ServerResponse[] = []
    const endpoint = await startEndpoint((_, response) => void held.push(response))
    const scene = await startScene([endpoint])
    const attempt = scene.open()
    const client = openAi(attempt)
    const answers = Array.from({ length: 20 }, (_, index) => client.chat.completions.create({ model: 'small', messages: [{ role: 'user', content: String(index) }] }))
    for (let count = 0; count < 20; count += 1) {
      await until(() => held.length >= Math.min(20, 16 + count))
      const response = held[count]
      if (response !== undefined) sendChat(response)
    }
    await Promise.all(answers)
    expect(endpoint.mostAtOnce()).toBe(16)
  })

  it('is not opened when its file would go through a link or its folder is missing', async () => {
    const scene = await startScene([await startEndpoint((_, response) => sendChat(response))])
    const folder = mkdtempSync(join(tmpdir(), 'model-gateway-'))
    atEnd(() => rmSync(folder, { recursive: true }))
    writeFileSync(join(folder, 'attempts.jsonl'), 'ledger\n')
    symlinkSync('attempts.jsonl', join(folder, 'model-calls.jsonl'))
    expect(() => scene.gateway.openAttempt({ callsFile: join(folder, 'model-calls.jsonl') })).toThrow('ELOOP')
    expect(() => scene.gateway.openAttempt({ callsFile: join(folder, 'missing', 'model-calls.jsonl') })).toThrow('ENOENT')
    expect(existsSync(join(folder, 'missing'))).toBe(false)
  })

  it('appends to a file that is there', async () => {
    const scene = await startScene([await startEndpoint((_, response) => sendChat(response))])
    for (const text of ['one', 'two']) {
      const attempt = scene.open()
      await ask(attempt, text)
      await attempt.close()
    }
    expect(scene.lines()).toHaveLength(2)
  })

  it('says how many calls are lost when the disk is full, and still tells the usage', async () => {
    const scene = await startScene([await startEndpoint((_, response) => sendChat(response))])
    const attempt = scene.gateway.openAttempt({ callsFile: '/dev/full' })
    await ask(attempt, 'hi')
    const close = attempt.close()
    await expect(close).rejects.toMatchObject({
      code: 'write_failed', message: '1 model call of this attempt could not be written to model-calls.jsonl; free space on the disk and run the attempt again.',
    })
    expect(attempt.usage()).toMatchObject({ calls: 1, cost_known_calls: 1 })
  })
})
