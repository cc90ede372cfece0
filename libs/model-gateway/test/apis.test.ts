import { describe, expect, it } from 'vitest'
import { anthropic, ask, chatChunk, chatUsage, event, openAi, raw, realKey, sendChat, sendError, sendJson, startEndpoint, startScene, startStream, until } from './fixture.ts'

const messages = [{ role: 'user' as const, content: 'hi' }]

const anthropicUsage = { input_tokens: 10, cache_read_input_tokens: 1_000, cache_creation_input_tokens: 100, output_tokens: 50 }
const anthropicTokens = { input: 1_110, output: 50, cached_input: 1_000, cache_write: 100 }
/** 10 × 3 + 1,000 × 0.3 + 100 × 3.75 + 50 × 15 millionths. */
const anthropicCost = 0.001455

const responsesUsage = { input_tokens: 200, input_tokens_details: { cached_tokens: 150 }, output_tokens: 10, output_tokens_details: { reasoning_tokens: 4 }, total_tokens: 210 }
/** 50 × 3 + 150 × 0.3 + 10 × 15 millionths. */
const responsesCost = 0.000345

function responseObject(status: string, usage: unknown): Record<string, unknown> {
  const output = [{ type: 'message', id: 'm1', role: 'assistant', status: 'completed', content: [{ type: 'output_text', text: 'hello', annotations: [] }] }]
  return { id: 'r1', object: 'response', created_at: 1, status, error: null, model: 'cached', output, usage }
}

describe('a whole answer', () => {
  it('of the chat API reaches the real client, with tokens and cost in the record', async () => {
    const endpoint = await startEndpoint((_, response) => sendChat(response))
    const scene = await startScene([endpoint])
    const attempt = scene.open()
    const answer = await ask(attempt, 'hi')
    expect(answer.choices[0]?.message.content).toBe('hello')
    expect(attempt.usage()).toEqual({
      calls: 1, requests: 1, failed_calls: 0, input_tokens: 100, output_tokens: 20, tokens_known_calls: 1, cost_usd: 0.00027, cost_known_calls: 1, endpoints: ['FIRST_URL'],
    })
    await attempt.close()
    const [line] = scene.lines()
    expect(line?.first_byte_seconds).toBeLessThanOrEqual(line?.seconds ?? 0)
    expect(scene.lines()).toEqual([
      {
        call: 1, started_at: line?.started_at, seconds: line?.seconds, first_byte_seconds: line?.first_byte_seconds, api: 'openai_chat', model: 'small', endpoint: 'FIRST_URL',
        tries: 1, outcome: 'answered', status: 200, stream: false, tokens: { input: 100, output: 20 }, cost_usd: 0.00027,
      },
    ])
  })

  it('of the responses API is told with its cached tokens at their own price', async () => {
    const endpoint = await startEndpoint((_, response) => sendJson(response, 200, responseObject('completed', responsesUsage)))
    const scene = await startScene([endpoint])
    const attempt = scene.open()
    const answer = await openAi(attempt).responses.create({ model: 'cached', input: 'hi' })
    expect(answer.output_text).toBe('hello')
    await attempt.close()
    expect(scene.lines()[0]).toMatchObject({ api: 'openai_responses', tokens: { input: 200, output: 10, cached_input: 150 }, cost_usd: responsesCost })
    expect(endpoint.seen[0]?.url).toBe('/v1/responses')
  })

  it('of the messages API is told with what was read from and written to the cache', async () => {
    const body = { id: 'm1', type: 'message', role: 'assistant', model: 'cached', content: [{ type: 'text', text: 'hello' }], stop_reason: 'end_turn', usage: anthropicUsage }
    const endpoint = await startEndpoint((_, response) => sendJson(response, 200, body))
    const scene = await startScene([endpoint])
    const attempt = scene.open()
    const answer = await anthropic(attempt).messages.create({ model: 'cached', max_tokens: 100, messages })
    expect(answer.content).toEqual([{ type: 'text', text: 'hello' }])
    await attempt.close()
    expect(scene.lines()[0]).toMatchObject({ api: 'anthropic_messages', tokens: anthropicTokens, cost_usd: anthropicCost })
    expect(endpoint.seen[0]).toMatchObject({ url: '/v1/messages', headers: { 'x-api-key': realKey } })
    expect(endpoint.seen[0]?.headers.authorization).toBeUndefined()
  })

  it.each([
    ['has no usage', 'small', undefined, { tokens: null, cost_usd: null }, { tokens_known_calls: 0, cost_known_calls: 0 }],
    ['is of a model without a price', 'unheard', chatUsage, { tokens: { input: 100, output: 20 }, cost_usd: null }, { tokens_known_calls: 1, cost_known_calls: 0 }],
    ['is of a model that is named like a property of every object', 'constructor', chatUsage, { cost_usd: null }, { cost_known_calls: 0 }],
  ])('that %s has an unknown cost, not a cost of zero', async (_, model, usage, line, sums) => {
    const endpoint = await startEndpoint((_seen, response) => sendChat(response, 'hello', usage ?? null))
    const scene = await startScene([endpoint])
    const attempt = scene.open()
    await ask(attempt, 'hi', model)
    const end = await attempt.close()
    expect(scene.lines()[0]).toMatchObject(line)
    expect(end.usage).toMatchObject({ calls: 1, ...sums })
  })

  it.each([
    ['has no choices', '{"choices":[]}'],
    ['holds nothing that the API knows', '{"hello":1}'],
  ])('that %s counts as answered, since a model may have written it', async (_, body) => {
    const endpoint = await startEndpoint((_seen, response) => {
      response.writeHead(200, { 'content-type': 'application/json' }).end(body)
    })
    const scene = await startScene([endpoint])
    const attempt = scene.open()
    const headers = { authorization: `Bearer ${attempt.key}` }
    expect(await raw(scene.gateway.origin, '/v1/chat/completions', { method: 'POST', headers, body: '{}' })).toMatchObject({ status: 200, body })
    expect(await attempt.close()).toMatchObject({ failure: undefined, usage: { calls: 1, failed_calls: 0, endpoints: ['FIRST_URL'] } })
  })

  it('keeps what was asked and answered only on demand, without any key', async () => {
    const endpoint = await startEndpoint((_, response) => sendChat(response, `your key is ${realKey}`))
    const scene = await startScene([endpoint], { keepContent: true })
    const attempt = scene.open()
    const answer = await ask(attempt, `my key is ${attempt.key}`)
    expect(answer.choices[0]?.message.content).toBe(`your key is ${'*'.repeat(realKey.length)}`)
    await attempt.close()
    expect(scene.lines()[0]?.content).toMatchObject({
      request: { model: 'small', messages: [{ role: 'user', content: 'my key is [secret attempt model key]' }] },
      response: { choices: [{ message: { content: 'your key is [secret model key]' } }] },
    })
  })
})

describe('a streamed answer', () => {
  it('of the chat API comes as it is told, and its usage is asked for and kept from an agent that did not ask', async () => {
    const stages: ((value: unknown) => void)[] = []
    const endpoint = await startEndpoint(async (_, response) => {
      startStream(response)
      response.write(chatChunk('hel'))
      await new Promise((resolve) => stages.push(resolve))
      response.write(chatChunk('lo', 'stop') + event({ id: 'c1', object: 'chat.completion.chunk', choices: [], usage: chatUsage }))
      response.end(event('[DONE]'))
    })
    const scene = await startScene([endpoint])
    const attempt = scene.open()
    const chunks: unknown[] = []
    for await (const chunk of await openAi(attempt).chat.completions.create({ model: 'small', messages, stream: true })) {
      chunks.push(chunk.choices[0]?.delta.content)
      // The endpoint goes on only after its first chunk has come through.
      if (chunks.length === 1) stages[0]?.(undefined)
    }
    expect(chunks).toEqual(['hel', 'lo'])
    expect(JSON.parse(endpoint.seen[0]?.body.toString() ?? '')).toEqual({ model: 'small', messages, stream: true, stream_options: { include_usage: true } })
    await attempt.close()
    expect(scene.lines()[0]).toMatchObject({ stream: true, outcome: 'answered', tokens: { input: 100, output: 20 }, cost_usd: 0.00027 })
  })

  it('is answered also for a client that leaves as soon as it has the whole', async () => {
    const endpoint = await startEndpoint((_, response) => {
      startStream(response)
      response.write(chatChunk('hello', 'stop') + event({ id: 'c1', object: 'chat.completion.chunk', choices: [], usage: chatUsage }) + event('[DONE]'))
    })
    const scene = await startScene([endpoint])
    const attempt = scene.open()
    for await (const chunk of await openAi(attempt).chat.completions.create({ model: 'small', messages, stream: true })) {
      if (chunk.choices[0]?.finish_reason === 'stop') break
    }
    await until(() => attempt.usage().calls === 1)
    await attempt.close()
    expect(scene.lines()[0]).toMatchObject({ outcome: 'answered', status: null, tokens: { input: 100, output: 20 } })
    await until(() => endpoint.openNow() === 0)
  })

  it('comes also from an endpoint that refuses to be asked for its usage, whose cost is then unknown', async () => {
    const endpoint = await startEndpoint(({ body }, response) => {
      if (body.includes('stream_options')) return sendError(response, 400)
      startStream(response)
      response.end(chatChunk('hello', 'stop') + event('[DONE]'))
    })
    const scene = await startScene([endpoint], { callAttempts: 1 })
    const attempt = scene.open()
    const texts: unknown[] = []
    for await (const chunk of await openAi(attempt).chat.completions.create({ model: 'small', messages, stream: true })) texts.push(chunk.choices[0]?.delta.content)
    expect(texts).toEqual(['hello'])
    expect(endpoint.seen.map(({ body }) => body.includes('stream_options'))).toEqual([true, false])
    await attempt.close()
    expect(scene.lines()[0]).toMatchObject({ outcome: 'answered', tries: 2, tokens: null, cost_usd: null })
  })

  it('of the chat API keeps its usage for an agent that asked for it', async () => {
    const endpoint = await startEndpoint((_, response) => {
      startStream(response)
      response.end(chatChunk('hello', 'stop') + event({ id: 'c1', object: 'chat.completion.chunk', choices: [], usage: chatUsage }) + event('[DONE]'))
    })
    const scene = await startScene([endpoint])
    const stream = await openAi(scene.open()).chat.completions.create({ model: 'small', messages, stream: true, stream_options: { include_usage: true } })
    const usages: unknown[] = []
    for await (const chunk of stream) usages.push(chunk.usage)
    expect(usages).toEqual([undefined, chatUsage])
  })

  it('of the responses API is told by its last event', async () => {
    const endpoint = await startEndpoint((_, response) => {
      startStream(response)
      response.write(event({ type: 'response.created', sequence_number: 0, response: responseObject('in_progress', null) }, 'response.created'))
      response.write(event({ type: 'response.output_text.delta', sequence_number: 1, item_id: 'm1', output_index: 0, content_index: 0, delta: 'hello' }, 'response.output_text.delta'))
      response.end(event({ type: 'response.completed', sequence_number: 2, response: responseObject('completed', responsesUsage) }, 'response.completed'))
    })
    const scene = await startScene([endpoint])
    const attempt = scene.open()
    const types: string[] = []
    for await (const one of await openAi(attempt).responses.create({ model: 'cached', input: 'hi', stream: true })) types.push(one.type)
    expect(types).toEqual(['response.created', 'response.output_text.delta', 'response.completed'])
    await attempt.close()
    expect(scene.lines()[0]).toMatchObject({ stream: true, outcome: 'answered', tokens: { input: 200, output: 10, cached_input: 150 }, cost_usd: responsesCost })
  })

  it('of the messages API is told by its first and its last events together', async () => {
    const { output_tokens, ...inputUsage } = anthropicUsage
    const endpoint = await startEndpoint((_, response) => {
      startStream(response)
      const message = { id: 'm1', type: 'message', role: 'assistant', model: 'cached', content: [], stop_reason: null, usage: { ...inputUsage, output_tokens: 1 } }
      response.write(event({ type: 'message_start', message }, 'message_start'))
      response.write(event({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } }, 'content_block_start'))
      response.write(event({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'hello' } }, 'content_block_delta'))
      response.write(event({ type: 'content_block_stop', index: 0 }, 'content_block_stop'))
      response.write(event({ type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens } }, 'message_delta'))
      response.end(event({ type: 'message_stop' }, 'message_stop'))
    })
    const scene = await startScene([endpoint])
    const attempt = scene.open()
    const message = await anthropic(attempt).messages.stream({ model: 'cached', max_tokens: 100, messages }).finalMessage()
    expect(message.content).toMatchObject([{ type: 'text', text: 'hello' }])
    await attempt.close()
    expect(scene.lines()[0]).toMatchObject({ stream: true, outcome: 'answered', tokens: anthropicTokens, cost_usd: anthropicCost })
  })

  it('holds no real key, also where a key is cut in two', async () => {
    const endpoint = await startEndpoint(async (_, response) => {
      startStream(response)
      const [left, right] = [`data: ${realKey.slice(0, 9)}`, `${realKey.slice(9)} done\n\ndata: [DONE]\n\n`]
      await new Promise((resolve) => response.write(left, resolve))
      response.end(right)
    })
    const scene = await startScene([endpoint])
    const attempt = scene.open()
    const headers = { authorization: `Bearer ${attempt.key}` }
    const answer = await raw(scene.gateway.origin, '/v1/chat/completions', { method: 'POST', headers, body: '{"stream":true}' })
    expect(answer.body).toBe(`data: ${'*'.repeat(realKey.length)} done\n\ndata: [DONE]\n\n`)
  })
})

describe('other requests', () => {
  it('ask for the list of models through the real client', async () => {
    const endpoint = await startEndpoint((_, response) => sendJson(response, 200, { object: 'list', data: [{ id: 'small', object: 'model' }] }))
    const scene = await startScene([endpoint])
    const attempt = scene.open()
    const list = await openAi(attempt).models.list()
    expect(list.data).toEqual([{ id: 'small', object: 'model' }])
    await attempt.close()
    expect(scene.lines()[0]).toMatchObject({ api: 'other', model: null, outcome: 'answered', tokens: null, cost_usd: 0 })
  })

  it('that an endpoint does not know are told to the agent without putting the endpoint out', async () => {
    const endpoint = await startEndpoint((_, response) => sendError(response, 404))
    const scene = await startScene([endpoint])
    const attempt = scene.open()
    await expect(openAi(attempt).embeddings.create({ model: 'small', input: 'hi' })).rejects.toMatchObject({ status: 404 })
    expect(scene.gateway.isHealthy()).toBe(true)
    expect(await attempt.close()).toMatchObject({ failure: undefined })
    expect(scene.lines()[0]).toMatchObject({ api: 'other', outcome: 'rejected', tries: 1 })
  })

  it.each([
    ['ends in /v1', '/v1', '/v1/chat/completions', '/v1/messages'],
    ['ends in /v1/', '/inference/v1/', '/inference/v1/chat/completions', '/inference/v1/messages'],
    ['ends otherwise', '/inference', '/inference/chat/completions', '/inference/v1/messages'],
    ['has a query', '/deployment?version=2', '/deployment/chat/completions?version=2', '/deployment/v1/messages?version=2'],
  ])('go to the path that the clients would use when the base URL %s', async (_, base, chatPath, messagesPath) => {
    const endpoint = await startEndpoint((_seen, response) => sendJson(response, 200, {}))
    const scene = await startScene([new URL(base, endpoint.url).href])
    const attempt = scene.open()
    await ask(attempt, 'hi')
    await anthropic(attempt).messages.create({ model: 'small', max_tokens: 1, messages })
    expect(endpoint.seen.map(({ url }) => url)).toEqual([chatPath, messagesPath])
  })
})
