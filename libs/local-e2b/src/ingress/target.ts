import type { IncomingHttpHeaders } from 'node:http'

/** Port on which E2B's guest agent answers; here it stands for the agent's socket. */
export const agentPort = 49983

export type IngressTarget =
  | { readonly kind: 'sandbox'; readonly sandboxId: string; readonly port: number }
  | { readonly kind: 'invalid'; readonly problem: string }
  | { readonly kind: 'none' }

const idPattern = /^[a-z0-9]+$/
const hostPattern = /^(\d+)-([a-z0-9]+)\./

/** Where a request wants to go: by the routing headers, else by the first label of its Host, else nowhere (an API request). */
export function ingressTarget(headers: IncomingHttpHeaders): IngressTarget {
  const id = headers['e2b-sandbox-id']
  const port = headers['e2b-sandbox-port']
  if (id !== undefined || port !== undefined) return fromHeaders(id, port)
  const [, labelPort, labelId] = hostPattern.exec(headers.host ?? '') ?? []
  if (labelPort === undefined || labelId === undefined) return { kind: 'none' }
  return checked(labelId, labelPort)
}

function fromHeaders(id: string | string[] | undefined, port: string | string[] | undefined): IngressTarget {
  if (typeof id !== 'string') return { kind: 'invalid', problem: 'the header E2b-Sandbox-Id is missing' }
  if (typeof port !== 'string') return { kind: 'invalid', problem: 'the header E2b-Sandbox-Port is missing' }
  return checked(id, port)
}

function checked(id: string, portText: string): IngressTarget {
  const port = /^\d{1,5}$/.test(portText) ? Number(portText) : 0
  if (port < 1 || port > 65_535) return { kind: 'invalid', problem: `'${portText}' is not a port` }
  if (!idPattern.test(id)) return { kind: 'invalid', problem: `'${id}' is not a sandbox id` }
  return { kind: 'sandbox', sandboxId: id, port }
}
