import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type ContractFile, contractFileSchema } from '@osworld-e2b/contracts'
import { expect, onTestFinished, test } from 'vitest'
import { UsageError } from '../usage-error.ts'
import { requireEndpoints } from './ask-endpoints.ts'

async function serve(answer: RequestListener): Promise<string> {
  const server = createServer(answer).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(async () => {
    server.closeAllConnections()
    server.close()
    await once(server, 'close')
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`
}

function contract(agent: object = { kind: 'upstream', name: 'qwen3vl', model: 'm', settings: {} }, key: object = { api_key_variable: 'MODEL_KEY' }): ContractFile {
  return contractFileSchema.parse({
    schema_version: 2,
    scoring: { profile: 'package-1.0.2', suite: 'starter', agent, max_steps: 5 },
    operation: { route: { kind: 'local', final: true }, num_envs: 1, attempt_timeout_seconds: 60, endpoints: [{ label: 'MODEL_URL', ...key }] },
  })
}

test.each([
  ['as OpenAI takes it', 'authorization', 'Bearer right-key'],
  ['as Anthropic takes it', 'x-api-key', 'right-key'],
])('an endpoint is asked with its key, %s', async (_, header, value) => {
  const address = await serve((request, response) => response.writeHead(request.headers[header] === value && request.url === '/v1/models' ? 200 : 401).end())
  await expect(requireEndpoints(contract(), { MODEL_URL: address, MODEL_KEY: 'right-key' })).resolves.toBeUndefined()
  await expect(requireEndpoints(contract(), { MODEL_URL: address, MODEL_KEY: 'other-key' })).rejects.toThrow(new UsageError('The endpoint MODEL_URL refuses MODEL_KEY; set it to a key that the endpoint accepts, then start the run again.'))
})

test("Anthropic's API is known by its own path, so that a wrong key is seen where OpenAI's path is not known", async () => {
  const address = await serve((request, response) => response.writeHead(request.url === '/v1/models' ? (request.headers['x-api-key'] === 'right-key' ? 200 : 401) : 404).end())
  const base = address.replace('/v1', '')
  await expect(requireEndpoints(contract(), { MODEL_URL: base, MODEL_KEY: 'right-key' })).resolves.toBeUndefined()
  await expect(requireEndpoints(contract(), { MODEL_URL: base, MODEL_KEY: 'other-key' })).rejects.toThrow(/^The endpoint MODEL_URL refuses MODEL_KEY;/)
})

test('an endpoint that wants a key of a contract that names none is refused', async () => {
  const address = await serve((_, response) => response.writeHead(403).end())
  await expect(requireEndpoints(contract(undefined, {}), { MODEL_URL: address })).rejects.toThrow(new UsageError('The endpoint MODEL_URL wants a key; name the environment variable that holds it in api_key_variable of the endpoint, then start the run again.'))
})

test('a server without a list of models will do, one at fault will not', async () => {
  const [listless, faulty] = [await serve((_, response) => response.writeHead(404).end()), await serve((_, response) => response.writeHead(503).end())]
  await expect(requireEndpoints(contract(undefined, {}), { MODEL_URL: listless })).resolves.toBeUndefined()
  await expect(requireEndpoints(contract(undefined, {}), { MODEL_URL: faulty })).rejects.toThrow(new UsageError('The endpoint MODEL_URL answers 503; start it or correct its address, then start the run again.'))
})

test('an agent that asks none of the endpoints asks none here', async () => {
  await expect(requireEndpoints(contract({ kind: 'none' }), {})).resolves.toBeUndefined()
})
