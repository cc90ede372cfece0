import type { TemplateRef } from '@osworld-e2b/contracts'
import { checkResumable } from '@osworld-e2b/scheduler'
import { findPython } from '@osworld-e2b/upstream'
import { join } from 'node:path'
import { workspace } from '../workspace.ts'
import { adjustmentsSha256, localContract } from './contract.ts'
import type { RunOptions } from './options.ts'
import type { Selection } from './selection.ts'
import { attachServer } from './server.ts'
import { resolveTemplate } from './template.ts'

export interface DryRun {
  readonly options: RunOptions
  readonly selection: Selection
  readonly environment: NodeJS.ProcessEnv
  readonly signal: AbortSignal
}

/** All checks of a run, then its plan on `output`; starts no sandbox, makes no run folder and no Python environment. */
export async function dryRun({ options, selection, environment, signal }: DryRun, output: NodeJS.WritableStream): Promise<void> {
  await findPython({ environment })
  const server = await attachServer(options, environment, signal)
  try {
    const template = await resolveTemplate(options.template, server.connection)
    const contract = localContract({ options, selection, template, adjustmentsSha256: await adjustmentsSha256(join(workspace.profiles, options.profile)) })
    const isResume = (await checkResumable(options.runFolder, contract.scoring)) !== undefined
    output.write(options.json ? `${JSON.stringify({ type: 'plan', run_folder: options.runFolder, is_resume: isResume, contract })}\n` : planText({ options, selection, template, isResume }))
  } finally {
    await server.close()
  }
}

interface Plan {
  readonly options: RunOptions
  readonly selection: Selection
  readonly template: TemplateRef
  readonly isResume: boolean
}

function planText({ options, selection, template, isResume }: Plan): string {
  const names = selection.tasks.map(({ task: { key } }) => key)
  const domains = [...new Set(names.map(({ domain }) => domain))]
  const lines = [
    `${isResume ? 'would resume' : 'would run'} ${names.length} tasks of ${selection.suite}, ${options.trials} ${options.trials === 1 ? 'trial' : 'trials'} each, in ${options.runFolder}`,
    ...domains.map((domain) => `  ${domain}: ${names.filter((name) => name.domain === domain).map(({ id }) => id).join(' ')}`),
    `agent: ${options.agent}${selection.scripts === undefined ? '' : ` with ${selection.scripts.name} (${selection.scripts.folder})`}, at most ${options.maxSteps} steps, timing ${options.timing}`,
    `template: ${template}`,
    options.numEnvs.note,
    'nothing was started',
  ]
  return `${lines.join('\n')}\n`
}
