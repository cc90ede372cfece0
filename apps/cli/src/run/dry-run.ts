import type { TemplateRef } from '@osworld-e2b/contracts'
import { asksEndpoints, type Bounds, bounds, budgetNotes } from '@osworld-e2b/gates'
import { checkResumable } from '@osworld-e2b/scheduler'
import { findPython } from '@osworld-e2b/upstream'
import { adjustmentsSha256, resolveContract } from './contract.ts'
import type { Passed } from './gate.ts'
import type { RunOptions } from './options.ts'
import type { Selection } from './selection.ts'
import { openRoute } from './route.ts'
import { resolveTemplate } from './template.ts'

export interface DryRun {
  readonly options: RunOptions
  readonly selection: Selection
  readonly passed: Passed
  /** Of the declared adjustments. */
  readonly profileFolder: string
  readonly environment: NodeJS.ProcessEnv
  readonly signal: AbortSignal
}

/** All checks of a run, then its plan on `output`; starts no sandbox and makes no run folder. Only a pinned source is set up, since its tasks are in its tree. */
export async function dryRun({ options, selection, passed, profileFolder, environment, signal }: DryRun, output: NodeJS.WritableStream): Promise<void> {
  await findPython({ environment })
  const server = await openRoute(options, environment, signal)
  try {
    const template = await resolveTemplate(options.template, server.connection)
    const contract = resolveContract({ options, written: passed.contract, selection, template, adjustmentsSha256: await adjustmentsSha256(profileFolder) })
    const isResume = (await checkResumable(options.runFolder, contract.scoring)) !== undefined
    const most = bounds(passed.contract, { taskCount: selection.tasks.length, ...options.prices })
    output.write(options.json ? `${JSON.stringify({ type: 'plan', run_folder: options.runFolder, is_resume: isResume, contract, bounds: most })}\n` : planText({ options, selection, passed, template, isResume, most }))
  } finally {
    await server.close()
  }
}

interface Plan {
  readonly options: RunOptions
  readonly selection: Selection
  readonly passed: Passed
  readonly template: TemplateRef
  readonly isResume: boolean
  readonly most: Bounds
}

function planText({ options, selection, passed, template, isResume, most }: Plan): string {
  const names = selection.tasks.map(({ task: { key } }) => key)
  const domains = [...new Set(names.map(({ domain }) => domain))]
  const lines = [
    `${isResume ? 'would resume' : 'would run'} ${names.length} tasks of ${selection.suite}, ${options.trials} ${options.trials === 1 ? 'trial' : 'trials'} each, in ${options.runFolder}`,
    ...domains.map((domain) => `  ${domain}: ${names.filter((name) => name.domain === domain).map(({ id }) => id).join(' ')}`),
    `agent: ${agentText(passed, selection)}, at most ${options.maxSteps} steps, timing ${options.timing}`,
    `template: ${template}`,
    options.numEnvs.note,
    ...boundLines(most),
    ...[...passed.evidence.notes, ...budgetNotes(passed.contract, most), ...priceNotes(options)].map((note) => `note: ${note}`),
    'nothing was started',
  ]
  return `${lines.join('\n')}\n`
}

/** Kind and name as the gates tell them, with the places of scripts and the labels of endpoints. */
function agentText({ evidence: { agent }, contract }: Passed, { scripts }: Selection): string {
  if (scripts !== undefined) return `${agent.kind} with ${scripts.name} (${scripts.folder})`
  const { endpoints = [] } = contract.operation
  const model = agent.model === undefined ? '' : ` asking ${agent.model}`
  const where = asksEndpoints(contract) && endpoints.length > 0 ? ` at ${endpoints.map(({ label }) => label).join(', ')}` : ''
  return `${agent.kind}${agent.name === undefined ? '' : ` ${agent.name}`}${model}${where}`
}

/** A price that nobody gave must be known as what it is. */
function priceNotes({ route, prices: { sandbox } }: RunOptions): string[] {
  if (route.kind === 'local' || sandbox.hourUsd === null) return []
  return [`a sandbox hour is taken as $${sandbox.hourUsd}, ${sandbox.origin}`]
}

/** What the run can use at most, when every attempt fails and takes all its time. */
function boundLines({ attempts, sandbox_hours: hours, model_requests: requests, cost_usd: cost }: Bounds): string[] {
  const requestText = requests === null ? 'an unknown number of model requests' : `${requests} model ${requests === 1 ? 'request' : 'requests'}`
  const costText = cost === null ? 'its cost is unknown' : `it costs at most $${cost.toFixed(2)}`
  return [`at most ${attempts} attempts, ${hours.toFixed(1)} sandbox hours and ${requestText}; ${costText}`]
}
