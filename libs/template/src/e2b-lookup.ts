import type { Connection } from '@osworld-e2b/contracts'
import { apiClient, requireData } from './e2b-client.ts'

export interface FoundBuild {
  readonly templateId: string
  readonly buildId: string
  /** When the build got its tag, RFC 3339. */
  readonly taggedAt: string
}

/** The newest ready build of the template called `name`, or nothing when there is none. */
export async function findReadyBuild(connection: Connection, name: string, signal: AbortSignal): Promise<FoundBuild | undefined> {
  const api = apiClient(connection)
  const alias = await api.GET('/templates/aliases/{alias}', { params: { path: { alias: name } }, signal })
  if (alias.response.status === 404) return undefined
  const { templateID } = requireData(`the search for template ${name}`, alias)
  const tags = requireData(`the list of tags of ${name}`, await api.GET('/templates/{templateID}/tags', { params: { path: { templateID } }, signal }))
  for (const tag of [...tags].sort((left, right) => right.createdAt.localeCompare(left.createdAt))) {
    const path = { templateID, buildID: tag.buildID }
    const status = await api.GET('/templates/{templateID}/builds/{buildID}/status', { params: { path }, signal })
    if (status.data?.status === 'ready') return { templateId: templateID, buildId: tag.buildID, taggedAt: tag.createdAt }
  }
  return undefined
}
