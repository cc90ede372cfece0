import { LocalE2bError } from '../error.ts'
import type { Route } from './router.ts'

/** E2B routes that this server knows and refuses, each with what it lacks. */
const refused: readonly (readonly [method: string, path: string, what: string])[] = [
  ['POST', '/sandboxes/{id}/pause', 'pausing sandboxes'],
  ['POST', '/sandboxes/{id}/resume', 'resuming sandboxes'],
  ['POST', '/sandboxes/{id}/snapshots', 'snapshots'],
  ['GET', '/snapshots', 'snapshots'],
  ['POST', '/sandboxes/{id}/fork', 'forking sandboxes'],
  ['GET', '/sandboxes/{id}/logs', 'sandbox logs'],
  ['GET', '/v2/sandboxes/{id}/logs', 'sandbox logs'],
  ['PATCH', '/templates/{id}', 'publishing templates'],
  ['PATCH', '/v2/templates/{id}', 'publishing templates'],
  ...(['GET', 'POST'] as const).flatMap((method) => [
    [method, '/volumes', 'volumes'] as const,
    [method, '/secrets', 'secrets'] as const,
  ]),
  ...(['GET', 'DELETE', 'PUT', 'PATCH'] as const).flatMap((method) => [
    [method, '/volumes/{id}', 'volumes'] as const,
    [method, '/secrets/{id}', 'secrets'] as const,
  ]),
]

export function notOfferedRoutes(): readonly Route[] {
  return refused.map(([method, path, what]) => ({
    method,
    path,
    handle: () => {
      throw new LocalE2bError('not_offered', `This local server does not offer ${what}.`)
    },
  }))
}
