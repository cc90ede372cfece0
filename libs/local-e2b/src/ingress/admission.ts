import type { IncomingHttpHeaders } from 'node:http'
import { isSameSecret } from '../api/api.ts'
import { needsTrafficToken, type Sandbox } from '../sandboxes/sandbox.ts'
import { isExpired, isSignedWith, signedFileRequest } from './file-signature.ts'
import { agentUnauthorized, badRequest, sandboxNotFound, trafficForbidden, type Refusal } from './refusal.ts'
import { agentPort, ingressTarget } from './target.ts'

export interface IngressRequest {
  readonly method: string
  readonly url: URL
  readonly headers: IncomingHttpHeaders
  readonly nowMs: number
}

export type Admission =
  | { readonly kind: 'admitted'; readonly sandbox: Sandbox; readonly port: number }
  | { readonly kind: 'refused'; readonly refusal: Refusal }
  | { readonly kind: 'not-ingress' }

interface KnownSandboxes {
  find(id: string): Sandbox | undefined
  list(): readonly Sandbox[]
}

/** Decides where a request goes and whether it may: the one place that checks tokens of guest ports and of the agent. */
export function admit(request: IngressRequest, sandboxes: KnownSandboxes): Admission {
  const target = ingressTarget(request.headers)
  if (target.kind === 'invalid') return refused(badRequest(target.problem))
  if (target.kind === 'none') return admitBySignature(request, sandboxes)
  const sandbox = sandboxes.find(target.sandboxId)
  if (sandbox === undefined || sandbox.isEnding) return refused(sandboxNotFound(target.sandboxId))
  const refusal = target.port === agentPort ? agentRefusal(request, sandbox) : trafficRefusal(request, sandbox)
  return refusal === undefined ? { kind: 'admitted', sandbox, port: target.port } : refused(refusal)
}

/** With one shared origin a signed file address names no sandbox: the signature finds it. */
function admitBySignature(request: IngressRequest, sandboxes: KnownSandboxes): Admission {
  const signed = signedFileRequest(request.method, request.url)
  if (signed === undefined) return { kind: 'not-ingress' }
  const sandbox = sandboxes.list().find(({ envdToken, isEnding }) => !isEnding && isSignedWith(signed, envdToken))
  if (sandbox === undefined) return refused(agentUnauthorized('invalid signature'))
  const refusal = agentRefusal(request, sandbox)
  return refusal === undefined ? { kind: 'admitted', sandbox, port: agentPort } : refused(refusal)
}

function agentRefusal(request: IngressRequest, sandbox: Sandbox): Refusal | undefined {
  if (request.url.pathname === '/health') return undefined
  if (isSameSecret(request.headers['x-access-token'], sandbox.envdToken)) return undefined
  const signed = signedFileRequest(request.method, request.url)
  if (signed === undefined) return agentUnauthorized('the access token is missing or wrong')
  if (!isSignedWith(signed, sandbox.envdToken)) return agentUnauthorized('invalid signature')
  return isExpired(signed, request.nowMs) ? agentUnauthorized('signature is already expired') : undefined
}

function trafficRefusal(request: IngressRequest, sandbox: Sandbox): Refusal | undefined {
  if (!needsTrafficToken(sandbox)) return undefined
  return isSameSecret(request.headers['e2b-traffic-access-token'], sandbox.trafficToken) ? undefined : trafficForbidden(sandbox.id)
}

function refused(refusal: Refusal): Admission {
  return { kind: 'refused', refusal }
}
