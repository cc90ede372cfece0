import type { Recipe } from '@osworld-e2b/contracts'
import { canonicalJson, sha256Hex } from '@osworld-e2b/inventory'
import { sdkVersion } from './e2b-client.ts'
import type { RecipeFile } from './recipe-files.ts'

/** Changed by hand whenever the rendering of a recipe changes, so that old templates are not taken for new ones. */
const schemaTag = 'osworld-e2b/template/1'

/** Template name that stands for everything that goes into the image: `osworld-gnome-` and 16 hexadecimal digits. */
export function contentName(recipe: Recipe, files: readonly RecipeFile[]): string {
  return `osworld-gnome-${contentSha256(recipe, files).slice(0, 16)}`
}

/** SHA-256 over the recipe, the copied files' paths, modes and bytes, the SDK's `major.minor` and the rendering's tag. */
export function contentSha256(recipe: Recipe, files: readonly RecipeFile[]): string {
  const listed = files
    .map(({ path, mode, sha256 }) => ({ path, mode, sha256 }))
    .sort((left, right) => (left.path < right.path ? -1 : 1))
  const sdk = sdkVersion().split('.').slice(0, 2).join('.')
  return sha256Hex(canonicalJson({ schema: schemaTag, sdk, recipe, files: listed }))
}
