import type { Connection, TemplateRef } from '@osworld-e2b/contracts'
import { contentName } from './content-name.ts'
import { apiClient } from './e2b-client.ts'
import { findReadyBuild } from './e2b-lookup.ts'
import type { LoadedRecipe } from './load-recipe.ts'

export interface FindTemplateOptions {
  readonly recipe: LoadedRecipe
  readonly connection: Connection
  readonly signal?: AbortSignal
}

const deadlineMs = 60_000

/** The ready template with exactly this recipe's content, or nothing when it has not been built there. */
export async function findTemplate({ recipe, connection, signal }: FindTemplateOptions): Promise<TemplateRef | undefined> {
  const name = contentName(recipe.recipe, recipe.files)
  const found = await findReadyBuild(connection, name, signal ?? AbortSignal.timeout(deadlineMs))
  return found === undefined ? undefined : `${name}:${found.buildId}`
}

/** Whether sandboxes can be made from exactly this build. */
export async function isTemplateReady({ template, connection }: { readonly template: TemplateRef; readonly connection: Connection }): Promise<boolean> {
  const [name = '', buildID = ''] = template.split(':')
  const signal = AbortSignal.timeout(deadlineMs)
  const api = apiClient(connection)
  const alias = await api.GET('/templates/aliases/{alias}', { params: { path: { alias: name } }, signal })
  const templateID = alias.data?.templateID
  if (templateID === undefined) return false
  const status = await api.GET('/templates/{templateID}/builds/{buildID}/status', { params: { path: { templateID, buildID } }, signal })
  return status.data?.status === 'ready'
}
