import type { BaseImage } from '../driver.ts'
import { LocalE2bError } from '../error.ts'

/** What an image string stands for here: one mmdebstrap run, and what sandboxes of it start as. */
export interface ImagePlan {
  readonly base: BaseImage
  /** Whether the builder adds E2B's account `user` (uid 1000, password-less sudo). */
  readonly addsAccount: boolean
  readonly user: string
  readonly workdir: string
  /** Set when the name came from an alias, to be shown in the build's log. */
  readonly aliasOf: string | undefined
}

export const accountName = 'user'
export const defaultImage = 'debian:12'

const scheme = 'mmdebstrap:'
const debianNames = new Set([defaultImage, 'debian:bookworm'])
const offered = `'${defaultImage}', the template 'base', or '${scheme}<suite>?variant=minbase&include=package,package'`

/** Programs that E2B's own base has and that its SDK leans on. */
const debianBase: BaseImage = {
  suite: 'bookworm',
  variant: 'minbase',
  packages: ['attr', 'ca-certificates', 'curl', 'git', 'iproute2', 'procps', 'python-is-python3', 'python3', 'sudo'],
  aptOptions: [],
  dpkgOptions: [],
}

/** Reads an image string; `aliases` are names that the operator declared to stand for another. Throws `bad_request` with what is offered. */
export function planImage(image: string, aliases: ReadonlyMap<string, string>): ImagePlan {
  const target = aliases.get(image)
  if (target !== undefined) return { ...planNamed(target, image), aliasOf: target }
  return planNamed(image, image)
}

function planNamed(image: string, asked: string): ImagePlan {
  if (debianNames.has(image)) {
    return { base: debianBase, addsAccount: true, user: accountName, workdir: `/home/${accountName}`, aliasOf: undefined }
  }
  if (image.startsWith(scheme)) {
    return { base: parseDebstrap(image), addsAccount: false, user: 'root', workdir: '/', aliasOf: undefined }
  }
  const aliased = asked === image ? '' : ` (alias '${asked}')`
  throw new LocalE2bError('bad_request', `Image '${image}'${aliased} is not offered by this local server: use ${offered}, or declare an image alias.`)
}

function parseDebstrap(image: string): BaseImage {
  const [suite = '', ...rest] = image.slice(scheme.length).split('?')
  const query = new URLSearchParams(rest.join('?'))
  const unknown = [...query.keys()].find((name) => !['variant', 'include', 'aptopt', 'dpkgopt'].includes(name))
  if (unknown !== undefined) throw malformed(image, `it has the unknown parameter '${unknown}' (known: variant, include, aptopt, dpkgopt)`)
  const packages = query.getAll('include').flatMap((list) => list.split(',')).filter((name) => name !== '')
  const bad = packages.find((name) => !/^[a-z0-9][a-z0-9+.:~=-]*$/i.test(name))
  if (bad !== undefined) throw malformed(image, `'${bad}' is not a package name`)
  if (!/^[a-z][a-z0-9-]*$/.test(suite)) throw malformed(image, `'${suite}' is not a suite`)
  const variant = query.get('variant') ?? 'minbase'
  if (!/^[a-z-]+$/.test(variant)) throw malformed(image, `'${variant}' is not a variant`)
  return { suite, variant, packages, aptOptions: query.getAll('aptopt'), dpkgOptions: query.getAll('dpkgopt') }
}

function malformed(image: string, why: string): LocalE2bError {
  const shown = image.length > 80 ? `${image.slice(0, 80)}…` : image
  return new LocalE2bError('bad_request', `Image '${shown}' cannot be read: ${why}.`)
}
