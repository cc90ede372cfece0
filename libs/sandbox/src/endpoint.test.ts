import type { Connection } from '@osworld-e2b/contracts'
import { secret } from '@osworld-e2b/redaction'
import { expect, test } from 'vitest'
import { endpointHeaders, guestEndpoint } from './endpoint.ts'

const request = { sandbox: { id: 'abc', host: (port: number) => `${port}-abc.e2b.app` }, trafficToken: secret('t0ken', 'traffic token'), port: 9222 }
const base = { api_key: 'e2b_1' }

const routes: { readonly connection: Connection; readonly baseUrl: string; readonly host: string; readonly routed: boolean }[] = [
  { connection: { ...base, route: 'e2b' }, baseUrl: 'https://9222-abc.e2b.app', host: '9222-abc.e2b.app', routed: false },
  { connection: { ...base, route: 'local', sandbox_url: 'http://127.0.0.1:4000/' }, baseUrl: 'http://127.0.0.1:4000', host: 'localhost:9222', routed: true },
  { connection: { ...base, route: 'e2b-compatible', sandbox_url: 'https://boxes.example' }, baseUrl: 'https://boxes.example', host: 'boxes.example', routed: true },
]

test.each(routes)('on the route $connection.route a port is reached at $baseUrl', ({ connection, baseUrl, host, routed }) => {
  const endpoint = guestEndpoint(connection, request)
  expect(endpoint).toMatchObject({ baseUrl, host, headers: routed ? { 'E2b-Sandbox-Id': 'abc', 'E2b-Sandbox-Port': '9222' } : {} })
  expect(endpointHeaders(endpoint)).toMatchObject({ 'e2b-traffic-access-token': 't0ken' })
})
