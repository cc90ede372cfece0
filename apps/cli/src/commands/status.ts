import { resolve } from 'node:path'
import { findRun } from '@osworld-e2b/report'
import { exitCode, type ExitCode } from '../exit-code.ts'
import { followRun, type Shown, shownAsJson, shownAsLines, shownInPlace, statusJson } from '../live/follow-run.ts'
import { lookAtRun } from '../live/look-at-run.ts'
import { lookText } from '../live/look-text.ts'
import { paintFor } from '../live/paint.ts'
import { isLive } from '../live/run-view.ts'
import { terminalSize, type TerminalStream } from '../live/terminal-view.ts'
import { workspace } from '../workspace.ts'

export interface StatusArguments {
  readonly results?: string
  readonly json?: boolean
  readonly watch?: boolean
}

export interface StatusConsole {
  readonly environment: NodeJS.ProcessEnv
  readonly stdout: TerminalStream
}

const watchEveryMs = 1_000

/** `osworld status RUN`: how a run goes or ended, and who runs it, once or until nobody runs it any more; changes nothing. */
export async function status(run: string, given: StatusArguments, console: StatusConsole): Promise<ExitCode> {
  const runFolder = await findRun({ run, runsFolder: resolve(given.results ?? workspace.runs) })
  if (given.watch === true) await watch(runFolder, given, console)
  else console.stdout.write(`${await oneLook(runFolder, given, console)}\n`)
  return exitCode.complete
}

async function oneLook(runFolder: string, { json }: StatusArguments, console: StatusConsole): Promise<string> {
  const look = await lookAtRun(runFolder, new Date())
  if (json === true) return JSON.stringify(statusJson(look))
  return lookText(look, { ...textOptions(console), ...terminalSize(console.stdout), nowMs: Date.now(), events: 8 })
}

async function watch(runFolder: string, given: StatusArguments, console: StatusConsole): Promise<void> {
  const shown = watched(given, console)
  try {
    await followRun({ look: () => lookAtRun(runFolder, new Date()), show: (look) => shown.show(look), everyMs: watchEveryMs })
  } finally {
    shown.end()
  }
}

function watched({ json }: StatusArguments, console: StatusConsole): Shown {
  if (json === true) return shownAsJson(console.stdout)
  const options = { ...textOptions(console), nowMs: () => Date.now(), events: 5 }
  return isLive(console.stdout, console.environment) ? shownInPlace(console.stdout, options) : shownAsLines(console.stdout, options)
}

/** Colours only where a person looks. */
function textOptions({ stdout, environment }: StatusConsole) {
  return { defaultRuns: workspace.runs, ...(stdout.isTTY === true ? { paint: paintFor(environment) } : {}) }
}
