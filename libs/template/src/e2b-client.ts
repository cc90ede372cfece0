import { ApiClient, ConnectionConfig, type ConnectionOpts } from 'e2b'
import type { Connection } from '@osworld-e2b/contracts'
import { TemplateError } from './template-error.ts'

const cloudApiUrl = 'https://api.e2b.app'

/** Options for the SDK; every address is stated, so that nothing is taken from the process's environment. */
export function connectionOptions(connection: Connection): ConnectionOpts {
  return {
    apiKey: connection.api_key,
    apiUrl: connection.api_url ?? cloudApiUrl,
    debug: false,
    ...(connection.sandbox_url === undefined ? {} : { sandboxUrl: connection.sandbox_url }),
  }
}

/** The SDK's typed HTTP client, for answers that its `Template` functions cut down. */
export function apiClient(connection: Connection): ApiClient['api'] {
  return new ApiClient(new ConnectionConfig(connectionOptions(connection))).api
}

/** Version of the SDK that runs, such as `2.51.0`: its only public place is the user agent. */
export function sdkVersion(): string {
  const agent = new ConnectionConfig({ apiKey: 'none', debug: false }).headers?.['User-Agent'] ?? ''
  const version = /e2b-js-sdk\/(\d+\.\d+\.\d+)/.exec(agent)?.[1]
  if (version === undefined) throw new TemplateError('api_failed', `The e2b package does not tell its version in its user agent ("${agent}").`)
  return version
}

interface ApiAnswer<Data> {
  readonly data?: Data
  readonly error?: unknown
  readonly response: Response
}

/** The answer's data, or an error that says what was asked for and what the server said. */
export function requireData<Data>(what: string, answer: ApiAnswer<Data>): Data {
  if (answer.data !== undefined) return answer.data
  throw new TemplateError('api_failed', `The E2B API answered ${answer.response.status} to ${what}: ${describeAnswer(answer.error)}`)
}

function describeAnswer(error: unknown): string {
  if (typeof error === 'object' && error !== null && 'message' in error) return String(error.message)
  return typeof error === 'string' && error !== '' ? error : 'no reason was given.'
}
