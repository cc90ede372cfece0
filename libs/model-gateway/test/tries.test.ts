import { describe, expect, it } from 'vitest'
import { anthropic, ask, chatChunk, event, openAi, raw, sendChat, sendError, sendJson, startEndpoint, startScene, startStream, until, type Handler } from './fixture.ts'
import type { GatewayTimings } from '../src/index.ts'

const messages = [{ role: 'user' as const, content: 'hi' }]

/** Does each thing once, and answers from then on. */
function first(...acts: Handler[]): Handler {
  return (seen, response, count) => (acts[count - 1] ?? ((_, rest) => sendChat(rest)))(seen, response, count)
}

const reset: Handler = (_, response) => void response.socket?.resetAndDestroy()
const status = (code: number, headers: Record<string, string> = {}): Handler => (_, response) => sendError(response, code, headers)
const halfBody: Handler = (_, response) => {
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': 1_000 })
  response.write('{"choices":', () => response.destroy())
}
const halfStream: Handler = (_, response) => {
  startStream(response)
  response.flushHeaders()
  response.destroy()
}
const silence: Handler = () => undefined
const page = (text: string, type = 'application/json'): Handler => (_, response) => void response.writeHead(200, { 'content-type': type }).end(text)

describe('a call that fails for now', () => {
  it.each([
    ['429', status(429), 'status 429 (told_error)'],
    ['408', status(408), 'status 408 (told_error)'],
    ['409', status(409), 'status 409 (told_error)'],
    ['500', status(500), 'status 500 (told_error)'],
    ['529', status(529), 'status 529 (told_error)'],
    ['a reset connection', reset, 'ECONNRESET'],
    ['a broken answer', halfBody, 'ECONNRESET'],
    ['a stream that breaks before its first byte', halfStream, 'ECONNRESET'],
    ['an empty body in spite of 200', page(''), 'status 200 (without an answer)'],
    ['a page in spite of 200', page('<h1>Sign in</h1>', 'text/html'), 'status 200 (without an answer)'],
    ['an error in spite of 200', page('{"error":{"message":"no provider","code":502}}'), 'status 200 (without an answer)'],
    ['an error as its choice', page('{"choices":[{"error":{"message":"no provider","code":502}}]}'), 'status 200 (without an answer)'],
  ])('with %s is tried again, and the record keeps the failure', async (_, act, error) => {
    const endpoint = await startEndpoint(first(act))
    const scene = await startScene([endpoint])
    const attempt = scene.open()
    expect((await ask(attempt, 'hi')).choices[0]?.message.content).toBe('hello')
    expect(endpoint.calls()).toHaveLength(2)
    expect(endpoint.calls()[1]?.body).toEqual(endpoint.calls()[0]?.body)
    expect(await attempt.close()).toMatchObject({ failure: undefined, usage: { calls: 1, requests: 2, failed_calls: 0 } })
    expect(scene.lines()[0]).toMatchObject({ tries: 2, outcome: 'answered', status: 200, error, tokens: { input: 100, output: 20 } })
  })

  it.each<[string, Partial<GatewayTimings>, Handler]>([
    ['no answer in time', { firstByteMs: 20 }, silence],
    ['the answer stalled', { stallMs: 20 }, ((_, response) => void response.writeHead(200, { 'content-type': 'application/json' }).write('{'))],
  ])('because of a time-out is tried again: %s', async (error, timings, act) => {
    const endpoint = await startEndpoint(first(act))
    // On a busy machine the second try may be too late as well.
    const scene = await startScene([endpoint], { timings, callAttempts: 1_000, failuresUntilOut: 1_000 })
    const attempt = scene.open()
    await ask(attempt, 'hi')
    await attempt.close()
    expect(endpoint.calls().length).toBeGreaterThan(1)
    expect(scene.lines()[0]).toMatchObject({ tries: endpoint.calls().length, outcome: 'answered', error })
    await until(() => endpoint.openNow() === 0)
  })

  it.each([
    [{ 'retry-after-ms': '1' }],
    [{ 'retry-after': '0' }],
    [{ 'retry-after': 'Thu, 01 Jan 2026 00:00:00 GMT' }],
  ])('waits as long as the endpoint asks with %o, and not for its own pause', async (headers) => {
    const endpoint = await startEndpoint(first(status(429, headers)))
    const scene = await startScene([endpoint], { timings: { backOffMs: 3_600_000, longestBackOffMs: 3_600_000 } })
    await ask(scene.open(), 'hi')
    expect(endpoint.calls()).toHaveLength(2)
  })

  it('does not wait longer than the longest pause, whatever the endpoint asks for', async () => {
    const endpoint = await startEndpoint(first(status(429, { 'retry-after': '86400' })))
    const scene = await startScene([endpoint], { timings: { longestRetryAfterMs: 1 } })
    await ask(scene.open(), 'hi')
    expect(endpoint.calls()).toHaveLength(2)
  })

  it('is given up after its last try, with the last status and body, and the clients do not repeat it', async () => {
    const endpoint = await startEndpoint(status(503, { 'retry-after': '0' }))
    const scene = await startScene([endpoint])
    const attempt = scene.open()
    await expect(ask(attempt, 'hi')).rejects.toMatchObject({ status: 503, message: '503 told 503' })
    expect(endpoint.calls()).toHaveLength(3)
    expect(await attempt.close()).toMatchObject({
      failure: 'The model endpoint FIRST_URL failed a call for good (status 503 (told_error); 3 tries), and no repetition was answered.',
      usage: { calls: 1, requests: 3, failed_calls: 1, endpoints: [] },
    })
    expect(scene.lines()[0]).toMatchObject({ outcome: 'failed', status: 503, endpoint: 'FIRST_URL', tokens: null, cost_usd: 0 })
  })

  it('is told in the shape of the API when the endpoint answers with a page', async () => {
    const endpoint = await startEndpoint((_, response) => void response.writeHead(502, { 'content-type': 'text/html' }).end('<h1>Bad gateway</h1>'))
    const scene = await startScene([endpoint], { callAttempts: 1, failuresUntilOut: 100 })
    const attempt = scene.open()
    const message = 'The model endpoint FIRST_URL failed a call for good (status 502; 1 try).'
    await expect(ask(attempt, 'hi')).rejects.toMatchObject({ status: 502, error: { message, type: 'api_error' } })
    const create = anthropic(attempt).messages.create({ model: 'small', max_tokens: 1, messages })
    await expect(create).rejects.toMatchObject({ status: 502, error: { type: 'error', error: { type: 'api_error', message } } })
  })

  it('is told as a failed call when nobody listens at the endpoint', async () => {
    const scene = await startScene(['http://127.0.0.1:1/v1'], { callAttempts: 1 })
    const attempt = scene.open()
    await expect(ask(attempt, 'hi')).rejects.toMatchObject({ status: 502 })
    await attempt.close()
    expect(scene.lines()[0]).toMatchObject({ outcome: 'failed', status: 502, error: 'ECONNREFUSED', cost_usd: 0 })
  })

  it.each([
    ['was answered with an error status', status(500), 0.00027],
    ['may have been served', reset, null],
  ])('and is answered later has the cost of its answer only if the try before it %s', async (_, act, cost) => {
    const scene = await startScene([await startEndpoint(first(act))])
    const attempt = scene.open()
    await ask(attempt, 'hi')
    await attempt.close()
    expect(scene.lines()[0]).toMatchObject({ tries: 2, tokens: { input: 100, output: 20 }, cost_usd: cost })
  })

  it('is one whose response object says that it failed, whatever its status', async () => {
    const failed = { id: 'r1', object: 'response', status: 'failed', error: { code: 'server_error', message: 'broken' }, output: [] }
    const endpoint = await startEndpoint((_, response) => sendJson(response, 200, failed))
    const scene = await startScene([endpoint])
    const attempt = scene.open()
    await expect(openAi(attempt).responses.create({ model: 'small', input: 'hi' })).rejects.toMatchObject({ status: 502, code: 'server_error' })
    await attempt.close()
    expect(scene.lines()[0]).toMatchObject({ tries: 3, outcome: 'failed', error: 'status 200 (server_error)' })
  })
})

describe('a call that no repetition can help', () => {
  it.each([400, 413, 422])('is passed on as it is with %i, as the fault of the agent', async (code) => {
    const endpoint = await startEndpoint(status(code))
    const scene = await startScene([endpoint])
    const attempt = scene.open()
    await expect(ask(attempt, 'hi')).rejects.toMatchObject({ status: code, message: `${code} told ${code}` })
    await expect(ask(attempt, 'another')).rejects.toMatchObject({ status: code })
    expect(endpoint.calls()).toHaveLength(2)
    expect(attempt.swallowed.aborted).toBe(false)
    expect(await attempt.close()).toMatchObject({ failure: undefined, usage: { failed_calls: 0 } })
    expect(scene.lines()[0]).toMatchObject({ tries: 1, outcome: 'rejected', status: code })
  })

  it.each([401, 403, 404])('fails for good at once with %i, and the endpoint is out', async (code) => {
    const endpoint = await startEndpoint(status(code))
    const scene = await startScene([endpoint])
    const attempt = scene.open()
    await expect(ask(attempt, 'hi')).rejects.toMatchObject({ status: code })
    expect(endpoint.calls()).toHaveLength(1)
    expect(scene.gateway.isHealthy()).toBe(false)
    await attempt.close()
    expect(scene.lines()[0]).toMatchObject({ tries: 1, outcome: 'failed', status: code })
  })

  it('fails for good at once when the bill is not paid', async () => {
    const endpoint = await startEndpoint((_, response) => sendJson(response, 429, { error: { message: 'pay', type: 'insufficient_quota', code: 'insufficient_quota' } }))
    const scene = await startScene([endpoint])
    await expect(ask(scene.open(), 'hi')).rejects.toMatchObject({ status: 429 })
    expect(endpoint.calls()).toHaveLength(1)
  })

  it.each([
    ['whose bill is not paid', { type: 'error', error: { type: 'invalid_request_error', message: 'Your credit balance is too low to access the API.' } }],
    ['whose key is wrong', [{ error: { code: 400, message: 'API key not valid. Please pass a valid API key.', status: 'INVALID_ARGUMENT' } }]],
    ['that lacks the model', { error: { code: 'model_not_found', message: 'no such model' } }],
  ])('fails for good also with 400 of a service %s', async (_, body) => {
    const endpoint = await startEndpoint((_seen, response) => sendJson(response, 400, body))
    const scene = await startScene([endpoint], { timings: { coolDownMs: 3_600_000, longestCoolDownMs: 3_600_000 } })
    const attempt = scene.open()
    await expect(ask(attempt, 'hi')).rejects.toMatchObject({ status: 400 })
    expect((await attempt.close()).failure).toMatch(/^The model endpoint FIRST_URL failed a call for good \(status 400/)
    expect(endpoint.calls()).toHaveLength(1)
    expect(scene.gateway.isHealthy()).toBe(false)
  })

  it('fails for good with a redirect, which is not followed since it could take the key elsewhere', async () => {
    const elsewhere = await startEndpoint((_, response) => sendChat(response))
    const endpoint = await startEndpoint((_, response) => void response.writeHead(307, { location: elsewhere.url }).end())
    const scene = await startScene([endpoint])
    const attempt = scene.open()
    const headers = { authorization: `Bearer ${attempt.key}` }
    const answer = await raw(scene.gateway.origin, '/v1/chat/completions', { method: 'POST', headers, body: '{}' })
    expect(answer.status).toBe(502)
    expect(answer.headers).not.toHaveProperty('location')
    expect(elsewhere.seen).toEqual([])
  })

  it('is a request of more than 64 MiB, which no endpoint sees', async () => {
    const endpoint = await startEndpoint((_, response) => sendChat(response))
    const scene = await startScene([endpoint])
    const attempt = scene.open()
    const headers = { 'x-api-key': attempt.key }
    const answer = await raw(scene.gateway.origin, '/v1/messages', { method: 'POST', headers, body: Buffer.alloc(64 * 1024 * 1024 + 1, ' ') })
    expect(answer.status).toBe(413)
    expect(JSON.parse(answer.body)).toEqual({
      type: 'error', error: { type: 'request_too_large', message: 'The request is larger than 64 MiB; send fewer or smaller pictures.' },
    })
    await attempt.close()
    expect(endpoint.seen).toEqual([])
    expect(scene.lines()[0]).toMatchObject({ tries: 0, outcome: 'rejected', status: 413, endpoint: null })
  })

  it('is not one of 64 MiB', async () => {
    const endpoint = await startEndpoint((_, response) => sendChat(response))
    const scene = await startScene([endpoint])
    const headers = { authorization: `Bearer ${scene.open().key}` }
    const body = Buffer.alloc(64 * 1024 * 1024, ' ')
    expect(await raw(scene.gateway.origin, '/v1/chat/completions', { method: 'POST', headers, body })).toMatchObject({ status: 200 })
    expect(endpoint.seen[0]?.body.length).toBe(body.length)
  })
})

describe('a stream that breaks after its first byte', () => {
  const chunk = chatChunk('hel')
  const error = { error: { message: 'overloaded', type: 'overloaded_error' } }
  const stream = { model: 'small', messages, stream: true } as const

  it.each<[string, Partial<GatewayTimings>, Handler, string]>([
    ['is cut', {}, ((_, response) => void response.write(chunk, () => response.destroy())), 'its stream broke off: ECONNRESET'],
    ['ends before the answer does', {}, ((_, response) => void response.end(chunk)), 'its stream ended before the answer did'],
    ['stalls', { stallMs: 20 }, ((_, response) => void response.write(chunk)), 'its stream broke off: the answer stalled'],
    ['holds no answer', {}, ((_, response) => void response.end(': nothing\n\n')), 'its stream held no answer'],
    ['tells of an error', {}, ((_, response) => void response.end(chunk + event(error))), 'its stream told of an error (overloaded_error)'],
  ])('because it %s is a failed call that the gateway does not repeat', async (_, timings, act, failure) => {
    const endpoint = await startEndpoint((seen, response, count) => {
      startStream(response)
      return act(seen, response, count)
    })
    const scene = await startScene([endpoint], { timings })
    const attempt = scene.open()
    const read = async (question: typeof stream): Promise<string[]> => {
      const texts: string[] = []
      for await (const part of await openAi(attempt).chat.completions.create(question)) texts.push(part.choices[0]?.delta.content ?? '')
      return texts
    }
    await expect(read(stream)).rejects.toThrow()
    expect(endpoint.calls()).toHaveLength(1)
    expect(await attempt.close()).toMatchObject({
      failure: `The model endpoint FIRST_URL failed a call for good (${failure}; 1 try), and no repetition was answered.`,
    })
    expect(scene.lines()[0]).toMatchObject({ tries: 1, outcome: 'failed', status: 200, error: failure, tokens: null })
  })

  it('is recovered when the agent repeats it', async () => {
    const endpoint = await startEndpoint((_, response, count) => {
      startStream(response)
      response.write(chunk)
      if (count === 1) response.write(chunk, () => response.destroy())
      else response.end(chatChunk('lo', 'stop') + event('[DONE]'))
    })
    const scene = await startScene([endpoint])
    const attempt = scene.open()
    const read = async (question: typeof stream): Promise<string[]> => {
      const texts: string[] = []
      for await (const part of await openAi(attempt).chat.completions.create(question)) texts.push(part.choices[0]?.delta.content ?? '')
      return texts
    }
    await expect(read(stream)).rejects.toThrow()
    expect(await read(stream)).toEqual(['hel', 'lo'])
    await read({ ...stream, messages: [{ role: 'user', content: 'something else' }] })
    expect(attempt.swallowed.aborted).toBe(false)
    expect(await attempt.close()).toMatchObject({ failure: undefined, usage: { calls: 3, failed_calls: 1 } })
  })
})
