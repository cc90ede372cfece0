/** An answer of the ingress itself, not of a guest. */
export interface Refusal {
  readonly status: number
  readonly body: Readonly<Record<string, string | number>> | string
}

/** Dead, unknown and never-existed look alike from outside. */
export function sandboxNotFound(sandboxId: string): Refusal {
  return { status: 502, body: { sandboxId, message: 'The sandbox was not found', code: 502 } }
}

export function portClosed(sandboxId: string, port: number): Refusal {
  return { status: 502, body: { sandboxId, message: 'The sandbox is running but port is not open', port, code: 502 } }
}

export function trafficForbidden(sandboxId: string): Refusal {
  return { status: 403, body: { sandboxId, message: 'The traffic access token is missing or wrong', code: 403 } }
}

export function agentUnauthorized(message: string): Refusal {
  return { status: 401, body: { code: 401, message } }
}

export function badRequest(problem: string): Refusal {
  return { status: 400, body: `Bad request: ${problem}` }
}

/** Content type and text of a refusal. */
export function refusalPayload({ body }: Refusal): { readonly contentType: string; readonly text: string } {
  if (typeof body === 'string') return { contentType: 'text/plain; charset=utf-8', text: `${body}\n` }
  return { contentType: 'application/json', text: JSON.stringify(body) }
}
