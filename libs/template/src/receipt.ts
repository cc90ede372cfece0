import { buildReceiptSchema, parseDocument, type BuildReceipt, type Route } from '@osworld-e2b/contracts'
import { canonicalJson, sha256Hex } from '@osworld-e2b/inventory'
import { planBase } from './base-image.ts'
import type { LoadedRecipe } from './load-recipe.ts'

export interface BuildFacts {
  readonly template: string
  readonly templateId: string
  readonly builtAt: string
  readonly seconds: number
  readonly reused: boolean
  readonly route: Route
  readonly sdkVersion: string
  readonly contentSha256: string
}

/** The record of a build; the recipe's own digest is that of its canonical JSON. */
export function makeReceipt({ recipe, files }: LoadedRecipe, facts: BuildFacts): BuildReceipt {
  const recipeInput = { path: `recipe/${recipe.variant}.json`, sha256: sha256Hex(canonicalJson(recipe)) }
  return parseDocument(buildReceiptSchema, 'the build receipt', {
    schema_version: 1,
    template: facts.template,
    template_id: facts.templateId,
    built_at: facts.builtAt,
    variant: recipe.variant,
    content_sha256: facts.contentSha256,
    inputs: [recipeInput, ...files.map(({ path, sha256 }) => ({ path, sha256 }))],
    resources: recipe.resources,
    sdk: { name: 'e2b', version: facts.sdkVersion },
    route: facts.route,
    byte_reproducible: false,
    floating: floatingSources({ recipe, route: facts.route }),
    seconds: facts.seconds,
    reused: facts.reused,
  })
}

function floatingSources({ recipe, route }: Pick<LoadedRecipe, 'recipe'> & { route: Route }): BuildReceipt['floating'] {
  const archive = {
    name: `package archive of ${recipe.base.suite}`,
    reason: 'packages are named without versions and come in the version that the archive held at the time of the build',
  }
  if (route === 'local') return [archive]
  const { image } = planBase(recipe, route)
  return [{ name: `image ${image}`, reason: 'a tag of a registry, which moves with every release of the image' }, archive]
}
