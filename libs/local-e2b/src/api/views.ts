import { needsTrafficToken, stateOf, type Sandbox } from '../sandboxes/sandbox.ts'
import type { TemplateRecord } from '../store/template-document.ts'

/** What our guest agent does of E2B's; SDKs switch features by it. */
export const envdVersion = '0.5.7'

/** Reply of create and connect: the only place where the traffic token is told. */
export function viewHandle(sandbox: Sandbox): object {
  return {
    sandboxID: sandbox.id,
    templateID: sandbox.templateId,
    alias: sandbox.templateName,
    clientID: 'local',
    envdVersion,
    envdAccessToken: sandbox.envdToken,
    trafficAccessToken: needsTrafficToken(sandbox) ? sandbox.trafficToken : null,
    domain: null,
  }
}

export function viewListed(sandbox: Sandbox): object {
  return {
    sandboxID: sandbox.id,
    templateID: sandbox.templateId,
    alias: sandbox.templateName,
    clientID: 'local',
    state: stateOf(sandbox),
    startedAt: new Date(sandbox.startedAtMs).toISOString(),
    endAt: new Date(sandbox.endAtMs).toISOString(),
    cpuCount: sandbox.cpuCount,
    memoryMB: sandbox.memoryMb,
    diskSizeMB: 0,
    envdVersion,
    metadata: sandbox.metadata,
  }
}

/** `allowInternetAccess` is what holds here, not what was asked for: sandboxes see only their own loopback. */
export function viewDetail(sandbox: Sandbox): object {
  return {
    ...viewListed(sandbox),
    domain: null,
    envdAccessToken: sandbox.envdToken,
    allowInternetAccess: false,
    network: sandbox.network,
    lifecycle: { onTimeout: 'kill', autoResume: false },
  }
}

export function viewTemplate(template: TemplateRecord): object {
  const newest = Object.values(template.builds).at(-1)
  return {
    templateID: template.template_id,
    buildID: template.tags.default?.build_id ?? newest?.build_id ?? '',
    cpuCount: newest?.cpu_count ?? 0,
    memoryMB: newest?.memory_mb ?? 0,
    diskSizeMB: 0,
    public: false,
    aliases: [template.name],
    names: [template.name],
    createdAt: template.created_at,
    updatedAt: template.updated_at,
    createdBy: null,
    lastSpawnedAt: null,
    spawnCount: 0,
    buildCount: Object.keys(template.builds).length,
    envdVersion,
    buildStatus: newest?.status ?? 'waiting',
  }
}

export function viewTags(template: TemplateRecord): object[] {
  return Object.entries(template.tags).map(([tag, { build_id, created_at }]) => ({ tag, buildID: build_id, createdAt: created_at }))
}
