import type { Recipe, Route } from '@osworld-e2b/contracts'

export interface BasePlan {
  /** What the builder is told to start from. */
  readonly image: string
  /** Shell command for root that installs the base packages, where the image does not hold them yet. */
  readonly installCommand: string | undefined
}

/**
 * How a recipe's base system comes about. Our own server makes it with one `mmdebstrap` from an image name that says
 * everything; elsewhere a published image is filled by apt.
 */
export function planBase(recipe: Recipe, route: Route): BasePlan {
  if (route === 'local') return { image: mmdebstrapImage(recipe.base), installCommand: undefined }
  return { image: recipe.variant.replace('-', ':'), installCommand: installCommand(recipe.base) }
}

function mmdebstrapImage(base: Recipe['base']): string {
  const query = new URLSearchParams({ variant: base.variant, include: base.packages.join(',') })
  for (const option of base.apt_options) query.append('aptopt', option)
  for (const option of base.dpkg_options) query.append('dpkgopt', option)
  return `mmdebstrap:${base.suite}?${query.toString()}`
}

/** Options go into the same two files as `mmdebstrap` keeps them in, since later steps rely on them too. */
function installCommand(base: Recipe['base']): string {
  return [
    ...writeLines('/etc/apt/apt.conf.d/99mmdebstrap', base.apt_options.map((option) => `${option.replace(/;\s*$/, '')};`)),
    ...writeLines('/etc/dpkg/dpkg.cfg.d/99mmdebstrap', base.dpkg_options),
    'apt-get update',
    `DEBIAN_FRONTEND=noninteractive apt-get install --yes ${base.packages.map(quote).join(' ')}`,
    'apt-get clean',
  ].join(' && ')
}

function writeLines(path: string, lines: readonly string[]): readonly string[] {
  return lines.length === 0 ? [] : [`printf '%s\\n' ${lines.map(quote).join(' ')} > ${path}`]
}

function quote(text: string): string {
  return /^[A-Za-z0-9._+:=/-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`
}
