import type { BuildOrigin, BuildSpec } from '../builder/build-spec.ts'
import { builtInTemplate, type Builds } from '../builder/builds.ts'
import { environmentPairs } from '../builder/environment.ts'
import { planImage } from '../builder/image.ts'
import { LocalE2bError } from '../error.ts'
import { checkTag, parseReference } from '../store/reference.ts'
import type { TemplateStore } from '../store/template-store.ts'
import type { UploadStore } from '../store/upload-store.ts'
import { readBody } from './body.ts'
import type { ApiRequest, Reply, Route } from './router.ts'
import { assignTagsBody, buildBody, newTemplateBody, removeTagsBody, type BuildBody } from './schemas.ts'
import { viewTags, viewTemplate } from './views.ts'

export interface TemplateRoutesOptions {
  readonly templates: TemplateStore
  readonly builds: Builds
  readonly uploads: UploadStore
  /** Origin of this server, for upload addresses. */
  readonly origin: () => string
  readonly imageAliases: ReadonlyMap<string, string>
}

const defaultSize = { cpuCount: 2, memoryMb: 1024 }

export function templateRoutes(options: TemplateRoutesOptions): readonly Route[] {
  const { templates } = options
  return [
    { method: 'GET', path: '/templates', handle: () => ({ status: 200, body: templates.list().map(viewTemplate) }) },
    { method: 'POST', path: '/v3/templates', handle: (request) => requestBuild(options, request) },
    { method: 'GET', path: '/templates/{id}/files/{hash}', handle: (request) => uploadLink(options, request) },
    { method: 'PUT', path: '/uploads/{hash}', isPublic: true, handle: (request) => upload(options, request) },
    { method: 'POST', path: '/v2/templates/{id}/builds/{buildId}', handle: (request) => triggerBuild(options, request) },
    { method: 'GET', path: '/templates/{id}/builds/{buildId}/status', handle: (request) => buildStatus(options, request) },
    { method: 'GET', path: '/templates/aliases/{alias}', handle: (request) => alias(options, request) },
    { method: 'GET', path: '/templates/{id}/tags', handle: ({ parameters }) => ({ status: 200, body: viewTags(templates.template(parameters.id ?? '')) }) },
    { method: 'POST', path: '/templates/tags', handle: (request) => assignTags(options, request) },
    { method: 'DELETE', path: '/templates/tags', handle: (request) => removeTags(options, request) },
    {
      method: 'DELETE',
      path: '/templates/{id}',
      handle: async ({ parameters }) => {
        await templates.remove(parameters.id ?? '')
        return { status: 204 }
      },
    },
  ]
}

async function requestBuild({ templates }: TemplateRoutesOptions, { request }: ApiRequest): Promise<Reply> {
  const body = await readBody(request, newTemplateBody)
  const asked = body.name ?? body.alias
  if (asked === undefined) throw new LocalE2bError('bad_request', 'The request body names no template: set name.')
  const { name, version } = parseReference(asked)
  const tags = (body.tags ?? []).length > 0 ? (body.tags ?? []).map(checkTag) : [checkTag(version ?? 'default')]
  const { template, build } = await templates.addBuild({
    name,
    tags,
    cpuCount: body.cpuCount ?? defaultSize.cpuCount,
    memoryMb: body.memoryMB ?? defaultSize.memoryMb,
  })
  const names = [template.name]
  return { status: 202, body: { templateID: template.template_id, buildID: build.build_id, names, aliases: names, tags, public: false } }
}

async function uploadLink({ templates, uploads, origin }: TemplateRoutesOptions, { parameters }: ApiRequest): Promise<Reply> {
  templates.template(parameters.id ?? '')
  const hash = parameters.hash ?? ''
  return { status: 201, body: { present: await uploads.has(hash), url: `${origin()}${uploads.pathFor(hash)}` } }
}

async function upload({ uploads }: TemplateRoutesOptions, { request, parameters, query }: ApiRequest): Promise<Reply> {
  const hash = parameters.hash ?? ''
  if (!uploads.accepts(hash, query.get('token'))) throw new LocalE2bError('forbidden', 'This upload address is not valid: ask for a new one.')
  await uploads.save(hash, request)
  return { status: 201 }
}

async function triggerBuild({ templates, builds, imageAliases }: TemplateRoutesOptions, { request, parameters }: ApiRequest): Promise<Reply> {
  const body = await readBody(request, buildBody)
  const template = templates.template(parameters.id ?? '')
  await builds.start(template, parameters.buildId ?? '', specOf(body, imageAliases))
  return { status: 202 }
}

function buildStatus({ templates, builds }: TemplateRoutesOptions, { parameters, query }: ApiRequest): Reply {
  const { id = '', buildId = '' } = parameters
  const offset = Number(query.get('logsOffset') ?? '0')
  if (!Number.isInteger(offset) || offset < 0) throw new LocalE2bError('bad_request', 'The query parameter logsOffset must be a whole number from 0.')
  const build = templates.build(id, buildId)
  const logEntries = builds.logsOf(buildId, offset)
  const reason = build.reason === null ? {} : { reason: { ...build.reason, logEntries: [] } }
  const logs = logEntries.map(({ message }) => message)
  return { status: 200, body: { templateID: id, buildID: buildId, status: build.status, logEntries, logs, ...reason } }
}

function alias({ templates }: TemplateRoutesOptions, { parameters }: ApiRequest): Reply {
  const { name } = parseReference(parameters.alias ?? '')
  const template = templates.template(name)
  const isBuilt = Object.values(template.builds).some((build) => build.image !== null)
  // A name that was asked for but never built does not exist for users yet; the built-in one always does.
  if (!isBuilt && template.name !== builtInTemplate) throw new LocalE2bError('not_found', `There is no template '${name}'.`)
  return { status: 200, body: { templateID: template.template_id, public: false } }
}

async function assignTags({ templates, builds }: TemplateRoutesOptions, { request }: ApiRequest): Promise<Reply> {
  const { target, tags } = await readBody(request, assignTagsBody)
  tags.forEach(checkTag)
  await builds.resolveImage(target)
  return { status: 201, body: { buildID: await templates.assignTags(target, tags), tags } }
}

async function removeTags({ templates }: TemplateRoutesOptions, { request }: ApiRequest): Promise<Reply> {
  const { name, tags } = await readBody(request, removeTagsBody)
  await templates.removeTags(name, tags)
  return { status: 204 }
}

function specOf(body: BuildBody, imageAliases: ReadonlyMap<string, string>): BuildSpec {
  if (body.fromImageRegistry !== undefined && body.fromImageRegistry !== null) throw new LocalE2bError('not_offered', 'This local server pulls from no registry: drop fromImageRegistry.')
  const steps = (body.steps ?? []).map((step) => {
    if (step.type === 'ENV') environmentPairs(step.args)
    const filesHash = step.type === 'COPY' ? step.filesHash : null
    return { type: step.type, args: step.args, filesHash, isForced: step.force === true }
  })
  return {
    origin: originOf(body, imageAliases),
    steps,
    startCommand: emptyToNull(body.startCmd),
    readyCommand: emptyToNull(body.readyCmd),
    isForced: body.force === true,
  }
}

function originOf(body: BuildBody, imageAliases: ReadonlyMap<string, string>): BuildOrigin {
  const image = emptyToNull(body.fromImage)
  const reference = emptyToNull(body.fromTemplate)
  if (image !== null && reference === null) return { kind: 'image', plan: planImage(image, imageAliases) }
  if (reference !== null && image === null) {
    parseReference(reference)
    return { kind: 'template', reference }
  }
  throw new LocalE2bError('bad_request', 'A build must name either fromImage or fromTemplate.')
}

function emptyToNull(text: string | null | undefined): string | null {
  return text === undefined || text === '' ? null : text
}
