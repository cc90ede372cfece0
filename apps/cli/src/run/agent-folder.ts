import { realpath } from 'node:fs/promises'
import { digestTree } from '@osworld-e2b/inventory'
import { UsageError } from '../usage-error.ts'
import type { RunOptions } from './options.ts'

export interface AgentFolder {
  /** Without links in its path, since an attempt sees it under the same path from inside. */
  readonly folder: string
  /** Tree digest of its Python files. */
  readonly sha256: string
}

/** The folder that `--agent-path` names, with what is in it; undefined where none was given. */
export async function readAgentFolder({ agentFolder }: Pick<RunOptions, 'agentFolder'>): Promise<AgentFolder | undefined> {
  if (agentFolder === undefined) return undefined
  const folder = await realpath(agentFolder).catch((error: unknown) => {
    throw new UsageError(`--agent-path: there is no folder ${agentFolder}; give the one in which the agent's module lies.`, { cause: error })
  })
  const files: string[] = []
  const list = (path: string) => {
    if (!path.endsWith('.py')) return false
    files.push(path)
    return true
  }
  const sha256 = await digestTree(folder, { list })
  if (files.length === 0) throw new UsageError(`--agent-path: ${folder} holds no Python file; give the folder in which the agent's module lies.`)
  return { folder, sha256 }
}
