import { parseJsonDocument } from '@osworld-e2b/contracts'
import { writeJsonAtomic } from '@osworld-e2b/inventory'
import { LocalE2bError } from '../error.ts'
import { readTextIfPresent } from './read-file.ts'
import { checkTag, parseReference } from './reference.ts'
import { templatesDocumentSchema, type BuildReason, type BuildRecord, type BuiltImage, type TemplateRecord } from './template-document.ts'

export interface TemplateStoreOptions {
  readonly file: string
  readonly now: () => number
  readonly newTemplateId: () => string
  readonly newBuildId: () => string
}

export interface NewBuild {
  readonly name: string
  readonly tags: readonly string[]
  readonly cpuCount: number
  readonly memoryMb: number
}

export interface ReadyImage {
  readonly template: TemplateRecord
  readonly buildId: string
  readonly image: BuiltImage
  readonly cpuCount: number
  readonly memoryMb: number
}

export type BuildResult = { readonly image: BuiltImage } | { readonly reason: BuildReason }

export interface TemplateStore {
  list(): readonly TemplateRecord[]
  /** By name or id; throws `not_found`. */
  template(nameOrId: string): TemplateRecord
  find(nameOrId: string): TemplateRecord | undefined
  build(templateId: string, buildId: string): BuildRecord
  /** The finished image that a reference such as `name:tag` names; throws `not_found`. */
  resolve(reference: string): ReadyImage
  addTemplate(name: string): Promise<TemplateRecord>
  addBuild(build: NewBuild): Promise<{ readonly template: TemplateRecord; readonly build: BuildRecord }>
  markBuilding(templateId: string, buildId: string): Promise<void>
  finish(templateId: string, buildId: string, result: BuildResult): Promise<void>
  assignTags(target: string, tags: readonly string[]): Promise<string>
  removeTags(name: string, tags: readonly string[]): Promise<void>
  remove(nameOrId: string): Promise<void>
}

/** Opens the templates of a data folder; builds that a dead server left half-way become errors. */
export async function openTemplateStore(options: TemplateStoreOptions): Promise<TemplateStore> {
  const text = await readTextIfPresent(options.file)
  const document = text === undefined ? { schema_version: 1 as const, templates: [] } : parseJsonDocument(templatesDocumentSchema, options.file, text)
  for (const template of document.templates) endInterruptedBuilds(template, timestamp(options))
  return templateStore(options, document.templates)
}

function templateStore(options: TemplateStoreOptions, templates: TemplateRecord[]): TemplateStore {
  let written: Promise<void> = Promise.resolve()
  const save = (): Promise<void> => {
    const write = (): Promise<void> => writeJsonAtomic(options.file, { schema_version: 1, templates })
    written = written.then(write, write)
    return written
  }
  const find = (nameOrId: string): TemplateRecord | undefined =>
    templates.find((template) => template.template_id === nameOrId || template.name === nameOrId)
  const template = (nameOrId: string): TemplateRecord => find(nameOrId) ?? missing(nameOrId)
  const build = (templateId: string, buildId: string): BuildRecord =>
    template(templateId).builds[buildId] ?? missing(`${templateId}:${buildId}`)
  const addTemplate = async (name: string): Promise<TemplateRecord> => {
    const known = find(name)
    if (known !== undefined) return known
    const now = timestamp(options)
    const added: TemplateRecord = { template_id: options.newTemplateId(), name, created_at: now, updated_at: now, tags: {}, builds: {} }
    templates.push(added)
    await save()
    return added
  }
  return {
    list: () => templates,
    find,
    template,
    build,
    addTemplate,
    resolve: (reference) => resolveReference(reference, find),
    async addBuild(request) {
      const owner = await addTemplate(request.name)
      const added = newBuildRecord(options, request)
      owner.builds[added.build_id] = added
      await save()
      return { template: owner, build: added }
    },
    async markBuilding(templateId, buildId) {
      build(templateId, buildId).status = 'building'
      await save()
    },
    async finish(templateId, buildId, result) {
      finishBuild(template(templateId), build(templateId, buildId), { result, now: timestamp(options) })
      await save()
    },
    async assignTags(target, tags) {
      const ready = resolveReference(target, find)
      for (const tag of tags.map(checkTag)) ready.template.tags[tag] = { build_id: ready.buildId, created_at: timestamp(options) }
      await save()
      return ready.buildId
    },
    async removeTags(name, tags) {
      const owner = template(parseReference(name).name)
      const doomed = new Set(tags.map(checkTag))
      owner.tags = Object.fromEntries(Object.entries(owner.tags).filter(([tag]) => !doomed.has(tag)))
      await save()
    },
    async remove(nameOrId) {
      templates.splice(templates.indexOf(template(nameOrId)), 1)
      await save()
    },
  }
}

function resolveReference(reference: string, find: (name: string) => TemplateRecord | undefined): ReadyImage {
  const { name, version = 'default' } = parseReference(reference)
  const template = find(name) ?? missing(reference)
  const buildId = template.tags[version]?.build_id ?? version
  const build = template.builds[buildId]
  const image = build?.image ?? null
  if (build === undefined || image === null) {
    const known = Object.keys(template.tags).sort().join(', ')
    throw new LocalE2bError('not_found', `Template '${reference}' has no finished build of that tag or build id${known === '' ? '' : ` (tags: ${known})`}.`)
  }
  return { template, buildId, image, cpuCount: build.cpu_count, memoryMb: build.memory_mb }
}

function newBuildRecord(options: TemplateStoreOptions, request: NewBuild): BuildRecord {
  return {
    build_id: options.newBuildId(),
    status: 'waiting',
    created_at: timestamp(options),
    finished_at: null,
    cpu_count: request.cpuCount,
    memory_mb: request.memoryMb,
    tags: request.tags.map(checkTag),
    image: null,
    reason: null,
  }
}

function finishBuild(template: TemplateRecord, build: BuildRecord, { result, now }: { result: BuildResult; now: string }): void {
  build.finished_at = now
  template.updated_at = now
  if ('reason' in result) {
    build.reason = result.reason
    build.status = 'error'
    return
  }
  build.image = result.image
  build.status = 'ready'
  for (const tag of build.tags) template.tags[tag] = { build_id: build.build_id, created_at: now }
}

function endInterruptedBuilds(template: TemplateRecord, now: string): void {
  for (const build of Object.values(template.builds)) {
    if (build.status !== 'waiting' && build.status !== 'building') continue
    finishBuild(template, build, { result: { reason: { message: 'The server ended before this build did; build again.', step: 'base' } }, now })
  }
}

function timestamp(options: TemplateStoreOptions): string {
  return new Date(options.now()).toISOString()
}

function missing(what: string): never {
  throw new LocalE2bError('not_found', `There is no template '${what}'.`)
}
