import { LocalE2bError } from '../error.ts'
import { parseListQuery, parseMetadataFilter, selectSandboxes } from '../sandboxes/list-query.ts'
import type { Sandbox, SandboxNetwork } from '../sandboxes/sandbox.ts'
import type { Sandboxes } from '../sandboxes/sandboxes.ts'
import type { ReadyImage } from '../store/template-store.ts'
import { readBody } from './body.ts'
import type { ApiRequest, Reply, Route } from './router.ts'
import { connectBody, connectBodyV1, createBody, networkBody, refreshBody, timeoutBody, type CreateBody, type NetworkBody } from './schemas.ts'
import { viewDetail, viewHandle, viewListed } from './views.ts'

export interface SandboxRoutesOptions {
  readonly sandboxes: Sandboxes
  /** The finished image of a template reference; makes the built-in template at its first use. */
  readonly resolveImage: (reference: string) => Promise<ReadyImage>
}

/** What a missing `timeout` means in the two generations of create and connect. */
const defaultTimeoutSeconds = { v1: 15, v2: 300 } as const

const noContent: Reply = { status: 204 }

export function sandboxRoutes(options: SandboxRoutesOptions): readonly Route[] {
  const { sandboxes } = options
  const knownOf = ({ parameters }: ApiRequest): Sandbox => sandboxes.get(parameters.id ?? '')
  const sandboxOf = ({ parameters }: ApiRequest): Sandbox => sandboxes.running(parameters.id ?? '')
  return [
    { method: 'POST', path: '/sandboxes', handle: (request) => create(options, request, defaultTimeoutSeconds.v1) },
    { method: 'POST', path: '/v2/sandboxes', handle: (request) => create(options, request, defaultTimeoutSeconds.v2) },
    { method: 'GET', path: '/sandboxes', handle: ({ query }) => listAll(sandboxes, query) },
    { method: 'GET', path: '/v2/sandboxes', handle: ({ query }) => listPage(sandboxes, query) },
    { method: 'GET', path: '/sandboxes/{id}', handle: (request) => ({ status: 200, body: viewDetail(knownOf(request)) }) },
    {
      method: 'DELETE',
      path: '/sandboxes/{id}',
      handle: async (request) => {
        await sandboxes.kill(knownOf(request))
        return noContent
      },
    },
    {
      method: 'POST',
      path: '/sandboxes/{id}/timeout',
      handle: async (request) => {
        const { timeout } = await readBody(request.request, timeoutBody)
        sandboxes.setTimeout(sandboxOf(request), timeout * 1000)
        return noContent
      },
    },
    {
      method: 'POST',
      path: '/sandboxes/{id}/refreshes',
      handle: async (request) => {
        const { duration } = await readBody(request.request, refreshBody)
        sandboxes.extend(sandboxOf(request), (duration ?? defaultTimeoutSeconds.v1) * 1000)
        return noContent
      },
    },
    { method: 'POST', path: '/sandboxes/{id}/connect', handle: (request) => connect(sandboxes, request, connectBodyV1) },
    { method: 'POST', path: '/v2/sandboxes/{id}/connect', handle: (request) => connect(sandboxes, request, connectBody) },
    {
      method: 'PUT',
      path: '/sandboxes/{id}/network',
      handle: async (request) => {
        const wanted = networkOf(await readBody(request.request, networkBody))
        const sandbox = sandboxOf(request)
        sandbox.network = replaceEgress(sandbox.network, wanted)
        return noContent
      },
    },
    {
      method: 'GET',
      path: '/sandboxes/{id}/metrics',
      handle: (request) => {
        // Nothing is measured per sandbox, and an empty series is a legal answer; a dead sandbox is still a 404.
        sandboxOf(request)
        return { status: 200, body: [] }
      },
    },
  ]
}

async function create(options: SandboxRoutesOptions, request: ApiRequest, defaultSeconds: number): Promise<Reply> {
  const body = await readBody(request.request, createBody)
  refuseWhatIsNotOffered(body)
  const network = networkOf(body.network ?? {})
  const image = await options.resolveImage(body.templateID)
  const sandbox = await options.sandboxes.create({
    image,
    timeoutMs: (body.timeout ?? defaultSeconds) * 1000,
    metadata: body.metadata ?? {},
    environment: body.envVars ?? {},
    network,
  })
  return { status: 201, body: viewHandle(sandbox) }
}

async function connect(sandboxes: Sandboxes, request: ApiRequest, schema: typeof connectBody | typeof connectBodyV1): Promise<Reply> {
  const { timeout } = await readBody(request.request, schema)
  const sandbox = sandboxes.running(request.parameters.id ?? '')
  sandboxes.extend(sandbox, (timeout ?? defaultTimeoutSeconds.v2) * 1000)
  return { status: 200, body: viewHandle(sandbox) }
}

function listPage(sandboxes: Sandboxes, query: URLSearchParams): Reply {
  const all = sandboxes.list()
  const { page, nextToken } = selectSandboxes(all, parseListQuery(query))
  const headers = { 'X-Total-Running': String(all.filter(({ isEnding }) => !isEnding).length), ...(nextToken === undefined ? {} : { 'X-Next-Token': nextToken }) }
  return { status: 200, body: page.map(viewListed), headers }
}

/** The old list has no pages. */
function listAll(sandboxes: Sandboxes, query: URLSearchParams): Reply {
  const wanted = [...parseMetadataFilter(query.get('metadata') ?? '')]
  const found = sandboxes.list().filter((sandbox) => wanted.every(([key, value]) => sandbox.metadata[key] === value))
  return { status: 200, body: found.map(viewListed) }
}

function refuseWhatIsNotOffered(body: CreateBody): void {
  if (body.autoPause === true) throw notOffered('pausing at the end of life (autoPause)')
  if (body.autoResume?.enabled === true) throw notOffered('resuming on traffic (autoResume)')
  if ((body.volumeMounts ?? []).length > 0) throw notOffered('volumes (volumeMounts)')
  if (body.iam !== undefined && body.iam !== null) throw notOffered('workload identity (iam)')
}

function networkOf(body: NetworkBody): SandboxNetwork {
  if (body.egressProxy !== undefined && body.egressProxy !== null) throw notOffered('an egress proxy (network.egressProxy)')
  if ((body.httpsPorts ?? []).length > 0) throw notOffered('TLS to guest ports (network.httpsPorts)')
  return {
    ...given('allowOut', body.allowOut),
    ...given('denyOut', body.denyOut),
    ...given('rules', body.rules),
    ...given('allowPublicTraffic', body.allowPublicTraffic),
    ...given('maskRequestHost', body.maskRequestHost),
  }
}

/** An update replaces the whole egress part; what guards the ports stays unless the update names it. */
function replaceEgress(old: SandboxNetwork, wanted: SandboxNetwork): SandboxNetwork {
  return {
    ...given('allowPublicTraffic', old.allowPublicTraffic),
    ...given('maskRequestHost', old.maskRequestHost),
    ...wanted,
  }
}

/** A field only when it has a value: null and absent mean the same to the API. */
function given<Name extends string, Value>(name: Name, value: Value | null | undefined): { [Key in Name]?: NonNullable<Value> } {
  return value === null || value === undefined ? {} : ({ [name]: value } as { [Key in Name]?: NonNullable<Value> })
}

function notOffered(what: string): LocalE2bError {
  return new LocalE2bError('not_offered', `This local server does not offer ${what}.`)
}
