import type { RunState } from '@osworld-e2b/aggregation'
import type { Aggregate } from '@osworld-e2b/contracts'
import type { CampaignEvent } from '@osworld-e2b/scheduler'
import { jsonView } from './json-view.ts'
import { linesView } from './lines-view.ts'
import { paintFor } from './paint.ts'
import { foldStatus, statusDocument } from './run-status.ts'
import { keepStatusFile } from './status-file.ts'
import { earlierStarts, endStatus, initialStatus, type StatusPlan } from './status-state.ts'
import { type TerminalStream, terminalView } from './terminal-view.ts'
import type { View, Viewed } from './view.ts'

export interface RunViewOptions {
  readonly runFolder: string
  readonly plan: Omit<StatusPlan, 'startedMs' | 'before'>
  /** Of the ledger before this start. */
  readonly recorded: { readonly state: RunState; readonly costUsd: number | null }
  readonly stdout: NodeJS.WritableStream
  readonly stderr: TerminalStream
  readonly environment: NodeJS.ProcessEnv
  readonly json: boolean
  readonly verbose: boolean
  readonly now: () => Date
}

export interface RunView {
  take(event: CampaignEvent): void
  /** What others have to say meanwhile; written to the terminal directly it would be drawn over. */
  line(text: string): void
  /** Called once, after the last event. */
  end(aggregate: Aggregate): Promise<void>
  /** In any case, also without `end`; resolves once nothing writes any more. */
  dispose(): Promise<void>
}

/** Shows a campaign in the way that fits its output, and keeps `status.json` for others; what cannot be shown never ends the run. */
export function createRunView(options: RunViewOptions): RunView {
  const { runFolder, plan, recorded, now } = options
  const nowMs = () => now().getTime()
  let state = initialStatus({ ...plan, startedMs: nowMs(), before: earlierStarts(recorded.state, recorded.costUsd) })
  const status = () => statusDocument(state, nowMs())
  const json = options.json ? jsonView(options.stdout, now) : undefined
  const view: View = json ?? viewForPeople(options, { status, nowMs })
  const file = keepStatusFile({ runFolder, document: status, onProblem: (sentence) => view.line(sentence) })
  return {
    take: (event) => {
      state = foldStatus(state, event, nowMs())
      file.changed()
      view.take(event)
    },
    line: (text) => view.line(text),
    end: async (aggregate) => {
      state = endStatus(state)
      await file.finish()
      view.end()
      json?.write({ type: 'run_ended', run_folder: runFolder, aggregate })
    },
    dispose: async () => {
      view.dispose()
      await file.dispose()
    },
  }
}

/** Whether a block may be redrawn there: a terminal that knows how, and no log of a CI service, which keeps every redraw. */
export function isLive({ isTTY }: Pick<TerminalStream, 'isTTY'>, { TERM, CI }: NodeJS.ProcessEnv): boolean {
  const isContinuousIntegration = CI !== undefined && CI !== '' && CI !== 'false' && CI !== '0'
  return isTTY === true && TERM !== 'dumb' && !isContinuousIntegration
}

function viewForPeople({ stderr, environment, verbose }: RunViewOptions, viewed: Viewed): View {
  if (!isLive(stderr, environment)) return linesView({ ...viewed, output: stderr, verbose })
  return terminalView({ ...viewed, output: stderr, paint: paintFor(environment), verbose })
}
