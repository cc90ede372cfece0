import { LocalE2bError } from '../error.ts'

export interface TemplateReference {
  /** Name or template id, without a namespace. */
  readonly name: string
  /** A tag or a build id; undefined means the tag `default`. */
  readonly version: string | undefined
}

const namePattern = /^[a-z0-9_-]+$/
const tagPattern = /^[a-z0-9._-]+$/
const uuidPattern = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/

/** Reads `name`, `name:tag`, `name:build-id` or `namespace/name…`; names are lower-cased as E2B does. */
export function parseReference(reference: string): TemplateReference {
  const parts = reference.split(':')
  const [full = '', version] = parts
  const segments = full.split('/')
  const name = (segments.at(-1) ?? '').toLowerCase()
  const isNamed = segments.length <= 2 && segments.every((segment) => namePattern.test(segment.toLowerCase()))
  if (parts.length > 2 || !isNamed) {
    throw new LocalE2bError('bad_request', `'${reference}' is not a template reference: write name, name:tag or name:build-id with a-z, 0-9, - and _ in the name.`)
  }
  if (version !== undefined && !tagPattern.test(version)) {
    throw new LocalE2bError('bad_request', `'${reference}' names no tag: after the colon must stand a tag of a-z, 0-9, '.', '-' and '_', or a build id.`)
  }
  return { name, version }
}

/** Refuses tags that E2B refuses; a UUID would be taken for a build id. */
export function checkTag(tag: string): string {
  if (tagPattern.test(tag) && !uuidPattern.test(tag)) return tag
  throw new LocalE2bError('bad_request', `'${tag}' is not a tag: use a-z, 0-9, '.', '-' and '_', and not a UUID.`)
}
