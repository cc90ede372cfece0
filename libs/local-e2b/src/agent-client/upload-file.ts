import type { Readable } from 'node:stream'
import { LocalE2bError } from '../error.ts'
import { requestAgent } from './agent-request.ts'

export interface Upload {
  /** Guest path; missing parents are made. */
  readonly path: string
  /** Owner of the file; the sandbox's default account when absent. */
  readonly user?: string
  readonly body: Buffer | string | Readable
}

/** Writes one file into a sandbox; the agent's refusals have code `agent_refused`. */
export async function uploadFile(agentSocket: string, upload: Upload): Promise<void> {
  const query = new URLSearchParams({ path: upload.path, ...(upload.user === undefined ? {} : { username: upload.user }) })
  const response = await requestAgent({
    agentSocket,
    method: 'POST',
    path: `/files?${query.toString()}`,
    headers: { 'content-type': 'application/octet-stream' },
    body: upload.body,
  })
  const reply: Buffer[] = []
  for await (const chunk of response as AsyncIterable<Buffer>) reply.push(chunk)
  if (response.statusCode === 200) return
  throw new LocalE2bError('agent_refused', `${upload.path} was not written: ${response.statusCode ?? 0} ${Buffer.concat(reply).toString()}`)
}
