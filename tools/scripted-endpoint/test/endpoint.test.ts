import Anthropic from '@anthropic-ai/sdk'
import OpenAI from 'openai'
import { afterEach, describe, expect, test } from 'vitest'
import { parseScript, type ScriptedEndpoint, type ScriptInput, startScriptedEndpoint } from '../src/index.ts'

let endpoint: ScriptedEndpoint | undefined
afterEach(async () => {
  await endpoint?.close()
  endpoint = undefined
})

async function start(steps: ScriptInput['tasks'][number]['steps']): Promise<ScriptedEndpoint> {
  endpoint = await startScriptedEndpoint({ script: parseScript({ schema_version: 1, models: ['tiny'], tasks: [{ match: 'buy "bread"', steps }], finally: { text: 'end' } }, 'The script') })
  return endpoint
}

const picture = `data:image/png;base64,${'A'.repeat(20_000)}`
const question = 'Please buy "bread".'

/** One client a way of asking; each gives the text and the counted tokens. */
const ways = {
  'chat completions': async (url: string, maxRetries = 0) => {
    const { choices, usage } = await openai(url, maxRetries).chat.completions.create({
      model: 'm',
      messages: [{ role: 'user', content: [{ type: 'text', text: question }, { type: 'image_url', image_url: { url: picture } }] }],
    })
    return { text: choices[0]?.message.content, input: usage?.prompt_tokens, output: usage?.completion_tokens }
  },
  'streamed chat completions': async (url: string, maxRetries = 0) => {
    const stream = await openai(url, maxRetries).chat.completions.create({ model: 'm', stream: true, stream_options: { include_usage: true }, messages: [{ role: 'user', content: question }] })
    const pieces: string[] = []
    let usage: OpenAI.CompletionUsage | undefined
    for await (const chunk of stream) {
      pieces.push(chunk.choices[0]?.delta.content ?? '')
      usage = chunk.usage ?? usage
    }
    return { text: pieces.join(''), input: usage?.prompt_tokens, output: usage?.completion_tokens }
  },
  responses: async (url: string, maxRetries = 0) => {
    const { output_text: text, usage } = await openai(url, maxRetries).responses.create({ model: 'm', input: question })
    return { text, input: usage?.input_tokens, output: usage?.output_tokens }
  },
  'streamed responses': async (url: string, maxRetries = 0) => {
    const { output_text: text, usage } = await openai(url, maxRetries).responses.stream({ model: 'm', input: question }).finalResponse()
    return { text, input: usage?.input_tokens, output: usage?.output_tokens }
  },
  messages: async (url: string, maxRetries = 0) => {
    const { content, usage } = await anthropic(url, maxRetries).messages.create({ model: 'm', max_tokens: 10, messages: [{ role: 'user', content: question }] })
    return { text: content[0]?.type === 'text' ? content[0].text : undefined, input: usage.input_tokens, output: usage.output_tokens }
  },
  'streamed messages': async (url: string, maxRetries = 0) => {
    const { content, usage } = await anthropic(url, maxRetries).messages.stream({ model: 'm', max_tokens: 10, messages: [{ role: 'user', content: question }] }).finalMessage()
    return { text: content[0]?.type === 'text' ? content[0].text : undefined, input: usage.input_tokens, output: usage.output_tokens }
  },
} as const

function openai(url: string, maxRetries: number): OpenAI {
  return new OpenAI({ baseURL: `${url}/v1`, apiKey: 'key', maxRetries })
}

function anthropic(url: string, maxRetries: number): Anthropic {
  return new Anthropic({ baseURL: url, apiKey: 'key', maxRetries })
}

describe.each(Object.entries(ways))('%s', (name, ask) => {
  test('bring the steps in their order, with the tokens that the script gives', async () => {
    const { url, calls } = await start([{ text: 'A text that is longer than one piece – ü.', usage: { input_tokens: 1_200, output_tokens: 7 } }, { action: 'type', arguments: { text: 'bread' } }])
    expect(await ask(url)).toEqual({ text: 'A text that is longer than one piece – ü.', input: 1_200, output: 7 })
    const second = await ask(url)
    expect(second.text).toBe('Action: The next step.\n<tool_call>\n{"name":"computer_use","arguments":{"action":"type","text":"bread"}}\n</tool_call>')
    expect(second.output).toBe(Math.ceil((second.text?.length ?? 0) / 4))
    expect(await ask(url)).toMatchObject({ text: 'end' })
    expect(calls.map(({ task, step, fault }) => ({ task, step, fault }))).toEqual([0, 1, 2].map((step) => ({ task: 'buy "bread"', step, fault: undefined })))
    expect(calls[0]).toMatchObject({ model: 'm', key: 'key', isStreamed: name.startsWith('streamed') })
    // A picture is no text: it would be counted as five thousand tokens.
    expect(second.input).toBeLessThan(100)
  })

  test('meet a fault, and the client that tries again gets the step that was due', async () => {
    const { url, calls } = await start([{ fault: 'status', status: 429, retry_after: 0 }, { text: 'after all' }])
    expect(await ask(url, 1)).toMatchObject({ text: 'after all' })
    expect(calls.map(({ fault }) => fault)).toEqual(['status', undefined])
  })

  test('break off in the middle of an answer', async () => {
    const { url } = await start([{ fault: 'broken_stream' }, { text: 'whole' }])
    await expect(ask(url)).rejects.toThrow()
    expect(await ask(url)).toMatchObject({ text: 'whole' })
  })
})

test('an error has the shape that the client knows', async () => {
  const { url } = await start([{ fault: 'status', status: 503, message: 'Come again.' }, { fault: 'status', status: 529 }, { fault: 'status', status: 401, retry_after: 'never' }])
  await expect(ways['chat completions'](url)).rejects.toMatchObject({ status: 503, error: { type: 'server_error', message: 'Come again.' } })
  await expect(ways.messages(url)).rejects.toMatchObject({ status: 529, error: { error: { type: 'overloaded_error' } } })
  const denied = await ways.responses(url).catch((error: unknown) => error)
  expect(denied).toMatchObject({ status: 401 })
  expect((denied as InstanceType<typeof OpenAI.AuthenticationError>).headers.get('retry-after')).toBe('never')
})

test('a reset connection and one that hangs end as the client ends them', async () => {
  const { url, calls } = await start([{ fault: 'reset' }, { fault: 'hang' }, { text: 'here' }])
  await expect(ways.messages(url)).rejects.toThrow(Anthropic.APIConnectionError)
  await expect(openai(url, 0).chat.completions.create({ model: 'm', messages: [{ role: 'user', content: question }] }, { timeout: 200 })).rejects.toThrow(OpenAI.APIConnectionTimeoutError)
  expect(await ways.responses(url)).toMatchObject({ text: 'here' })
  expect(calls.map(({ fault }) => fault)).toEqual(['reset', 'hang', undefined])
})

test('closing ends a client that still waits', async () => {
  const { url } = await start([{ fault: 'hang' }])
  const waiting = ways.responses(url)
  const refused = expect(waiting).rejects.toThrow(OpenAI.APIConnectionError)
  while (endpoint?.calls.length === 0) await new Promise((resolve) => setImmediate(resolve))
  await endpoint?.close()
  await refused
})

test('the models are listed, and what is no such request is refused', async () => {
  const { url, calls } = await start([])
  expect((await openai(url, 0).models.list()).data.map(({ id }) => id)).toEqual(['tiny'])
  expect((await fetch(`${url}/v1/embeddings`, { method: 'POST', body: '{}' })).status).toBe(404)
  const refused = await fetch(`${url}/v1/messages`, { method: 'POST', body: 'no JSON' })
  expect([refused.status, await refused.json()]).toEqual([400, { type: 'error', error: { type: 'invalid_request_error', message: 'The request is no JSON object with a model.' } }])
  expect(calls).toEqual([])
})

test('a port that is taken is refused in one sentence', async () => {
  const { url } = await start([])
  const port = Number(new URL(url).port)
  const script = parseScript({ schema_version: 1, tasks: [] }, 'The script')
  await expect(startScriptedEndpoint({ script, port })).rejects.toMatchObject({
    code: 'cannot_listen',
    message: expect.stringMatching(new RegExp(`^Port ${port} of 127\\.0\\.0\\.1 cannot be listened on \\(.*EADDRINUSE.*\\); choose another with --port, or none for any free one\\.$`)) as string,
  })
})
