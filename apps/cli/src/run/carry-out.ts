import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import type { Connection, Contract } from '@osworld-e2b/contracts'
import { writeJsonAtomic } from '@osworld-e2b/inventory'
import { createRedactor, secret, type Secret } from '@osworld-e2b/redaction'
import { type CampaignInput, type CampaignResult, createRoom, type Ledger, openLedger, openRunFolder, requestsOfOpenAttempts, type Room, runCampaign, systemClock } from '@osworld-e2b/scheduler'
import type { Bubblewrap } from '@osworld-e2b/upstream'
import type { Console } from '../commands/run.ts'
import type { Profile } from '../commands/setup.ts'
import { createRunView, type RunView, type RunViewOptions } from '../live/run-view.ts'
import { planAttempt } from './attempts.ts'
import { placesOf } from './free-space.ts'
import type { Passed } from './gate.ts'
import type { Interrupts } from './interrupts.ts'
import { openModel, type Model } from './model.ts'
import type { RunOptions } from './options.ts'
import { campaignServices } from './processes.ts'
import { notRunLines, resultTable, scoreLine } from './result-table.ts'
import { adapterSha256, scorerDrift, upstreamOf } from './scorer-identity.ts'
import { secretPlaces } from './secret-places.ts'
import type { Selection } from './selection.ts'

export interface Prepared {
  readonly options: RunOptions
  readonly selection: Selection
  readonly passed: Passed
  readonly profile: Profile
  readonly bubblewrap: Bubblewrap
  readonly console: Console
  readonly interrupts: Interrupts
  /** By `domain/id`; undefined when no earlier run tells. */
  readonly expectedSeconds: ReadonlyMap<string, number> | undefined
  /** Aborts when the run is to end what runs, also because its server is gone. */
  readonly signal: AbortSignal
}

export interface ReadyRun extends Prepared {
  readonly connection: Connection
  readonly contract: Contract
  readonly temporaryFolder: string
}

/** The campaign itself, in the run folder that this process has locked: from its documents to its printed result. */
export async function carryOut(run: ReadyRun): Promise<CampaignResult> {
  const { options, console, signal } = run
  const room = createRoom({ folder: options.runFolder, clock: systemClock, signal })
  const { run_uid: runUid } = await writeDocuments(run)
  const ledger = await openLedger(join(options.runFolder, 'attempts.jsonl'), () => new Date(), (work) => room.keep(work))
  try {
    const model = await openModel(run.contract, options, { environment: console.environment, requestsBefore: ledger.totals().modelRequests + (await requestsOfOpenAttempts(options.runFolder, ledger.state)) })
    try {
      return await campaign(run, { room, ledger, model, runUid })
    } finally {
      await model?.close()
    }
  } finally {
    await ledger.close()
  }
}

interface Open {
  readonly room: Room
  readonly ledger: Ledger
  readonly model: Model | undefined
  readonly runUid: string
}

async function campaign(run: ReadyRun, open: Open): Promise<CampaignResult> {
  const { options, contract, passed, console, interrupts } = run
  const { ledger } = open
  const view = createRunView(viewOptions(run, ledger))
  const onDrain = () => view.take({ type: 'draining' })
  const onStop = () => view.take({ type: 'stopping' })
  interrupts.drain.addEventListener('abort', onDrain)
  run.signal.addEventListener('abort', onStop)
  interrupts.mayDrain()
  interrupts.speakBy((text) => view.line(text))
  try {
    const result = await runCampaign(campaignInput(run, ledger), services(run, open, view), run.signal)
    await view.end(result.aggregate)
    if (options.json) console.stdout.write(`${JSON.stringify({ type: 'notes', notes: passed.evidence.notes })}\n`)
    else console.stdout.write(`${[resultTable(contract.scoring.tasks, options.trials, ledger.state), scoreLine(result.aggregate), ...notRunLines(result.aggregate), ...passed.evidence.notes.map((note) => `note: ${note}`)].join('\n')}\n`)
    return result
  } finally {
    interrupts.drain.removeEventListener('abort', onDrain)
    run.signal.removeEventListener('abort', onStop)
    interrupts.speakBy((text) => console.steps.line(text))
    await view.dispose()
  }
}

function campaignInput({ options, contract, passed, interrupts, expectedSeconds }: ReadyRun, ledger: Ledger): CampaignInput {
  const { sandboxHourUsd, modelRequestUsd } = options.prices
  return {
    runId: options.runId,
    contract,
    ledger,
    labels: { unconfined: false, unverified: passed.evidence.unverified },
    drain: interrupts.drain,
    ...(expectedSeconds === undefined ? {} : { expectedSeconds }),
    ...(sandboxHourUsd === null ? {} : { sandboxHourUsd }),
    ...(modelRequestUsd === null ? {} : { attemptModelUsd: modelRequestUsd * contract.scoring.max_steps }),
  }
}

function services({ options, contract, selection, profile, bubblewrap, connection, temporaryFolder, console }: ReadyRun, { room, ledger, model, runUid }: Open, view: RunView) {
  const runMetadata = { workload: 'osworld-e2b', run: options.runId, run_uid: runUid }
  const planner = { options, contract, connection, tasks: selection.tasks, profileFolder: profile.folder, runMetadata, session: ledger.session() + 1 }
  return campaignServices({
    bubblewrap,
    temporaryFolder,
    runFolder: options.runFolder,
    profile,
    connection,
    environment: console.environment,
    secrets: secretPlaces(options),
    scorerDrift: () => scorerDrift(profile),
    model,
    runMetadata,
    room,
    redactor: createRedactor(secretsOf(contract, connection, console.environment)),
    places: placesOf({ ...options, numEnvs: options.numEnvs.count }).filter(({ folder }) => options.route.kind === 'local' || folder === options.runFolder),
    planAttempt: (identity, folder) => planAttempt(planner, identity, folder),
    onEvent: (event) => view.take(event),
  })
}

/** Every secret that this process knows of: children's output is searched for them. */
function secretsOf(contract: Contract, { api_key: apiKey }: Connection, environment: NodeJS.ProcessEnv): readonly Secret[] {
  const keys = (contract.operation.endpoints ?? []).flatMap(({ api_key_variable: variable }) => (variable === undefined ? [] : [[variable, environment[variable] ?? ''] as const]))
  return [['E2B key', apiKey] as const, ...keys].filter(([, value]) => value.length >= shortestSecret).map(([label, value]) => secret(value, label))
}

/** A shorter value stands in every text. */
const shortestSecret = 8

function viewOptions({ options, contract, console }: ReadyRun, ledger: Ledger): RunViewOptions {
  const { sandboxHourUsd } = options.prices
  const { scoring, operation } = contract
  const { sandboxUsd, model, modelUsd } = ledger.totals()
  const isKnown = sandboxUsd !== null && (model === undefined || model.cost_known_calls === model.calls)
  return {
    runFolder: options.runFolder,
    plan: { runId: options.runId, planned: scoring.tasks.length * scoring.trials, numEnvs: operation.num_envs, maxSteps: scoring.max_steps, maxAttemptsPerTrial: operation.max_attempts_per_trial, sandboxHourUsd },
    recorded: { state: ledger.state, costUsd: isKnown ? sandboxUsd + modelUsd : null },
    stdout: console.stdout,
    stderr: console.stderr,
    environment: console.environment,
    json: options.json,
    verbose: options.verbose,
    now: () => new Date(),
  }
}

async function writeDocuments({ options, contract, passed, profile }: ReadyRun): Promise<{ readonly run_uid: string }> {
  const { document } = await openRunFolder({
    path: options.runFolder,
    contract,
    document: {
      run_id: options.runId,
      run_uid: randomBytes(16).toString('hex'),
      created_at: new Date().toISOString(),
      upstream: upstreamOf(profile),
      capabilities: passed.capabilities,
      runtime: { osworld_e2b: '0.1.0', node: process.versions.node, python: profile.python.version, platform: `${process.platform} ${process.arch}`, adapter_sha256: await adapterSha256() },
      contract_sha256: passed.evidence.contract_sha256,
      unconfined: false,
      unverified: passed.evidence.unverified,
    },
  })
  if (options.contractFile !== undefined) await writeJsonAtomic(join(options.runFolder, 'written-contract.json'), options.contractFile)
  return document
}
