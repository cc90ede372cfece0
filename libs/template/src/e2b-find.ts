import type { Connection, TemplateRef } from '@osworld-e2b/contracts'
import { contentName } from './content-name.ts'
import { findReadyBuild } from './e2b-lookup.ts'
import type { LoadedRecipe } from './load-recipe.ts'

export interface FindTemplateOptions {
  readonly recipe: LoadedRecipe
  readonly connection: Connection
  readonly signal?: AbortSignal
}

/** The ready template with exactly this recipe's content, or nothing when it has not been built there. */
export async function findTemplate({ recipe, connection, signal }: FindTemplateOptions): Promise<TemplateRef | undefined> {
  const name = contentName(recipe.recipe, recipe.files)
  const found = await findReadyBuild(connection, name, signal ?? AbortSignal.timeout(60_000))
  return found === undefined ? undefined : `${name}:${found.buildId}`
}
