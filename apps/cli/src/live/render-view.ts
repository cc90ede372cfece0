import type { RunStatus } from '@osworld-e2b/contracts'
import { durationText } from '../run/pace.ts'
import { attemptName } from './event-text.ts'
import { countFigures, paceFigures, restOf, scoreFigures } from './figures.ts'
import { cut, displayWidth, oneLine } from './one-line.ts'
import { inPlain, type Paint, type Tint } from './paint.ts'
import { progressBar } from './progress-bar.ts'
import { flow, type Line, printLine } from './spans.ts'

export interface ViewOptions {
  readonly columns: number
  readonly rows: number
  /** Unix milliseconds. */
  readonly nowMs: number
  /** No colours unless given. */
  readonly paint?: Paint
  /** Most of the last events to show; 3 unless given. */
  readonly events?: number
  /** What stands in the place of the state when more is known than the document tells. */
  readonly standing?: string
}

/**
 * A campaign as a block of text that fits into the terminal: one column and one row stay free, since a full line wraps and a full screen scrolls.
 */
export function renderView(status: RunStatus, options: ViewOptions): string {
  const { rows, paint = inPlain } = options
  const width = Math.max(1, options.columns - 1)
  const height = Math.max(1, rows - 1)
  const head = headLines(status, width, options)
  const room = Math.max(0, height - head.length)
  const shownEvents = Math.min(status.events.length, options.events ?? 3, Math.floor(room / 3))
  const attempts = runningLines(status, { width, room: room - shownEvents, nowMs: options.nowMs })
  const events = shownEvents === 0 ? [] : status.events.slice(-shownEvents).map((event) => eventLine(event, options.nowMs))
  return [...head, ...attempts, ...events]
    .slice(0, height)
    .map((line) => printLine(line, width, paint))
    .join('\n')
}

function headLines(status: RunStatus, width: number, { nowMs, standing }: ViewOptions): readonly Line[] {
  const { running, planned, valid, failed } = status
  return [
    headerLine(status, { width, nowMs, standing }),
    progressBar([valid, failed, running.length, restOf({ planned, valid, failed, running })], width),
    ...flow(countFigures(status), width),
    ...flow(scoreFigures(status), width),
    ...flow(paceFigures(status), width),
    ...status.pauses.map(({ message }): Line => [{ text: 'paused: ', tint: 'yellow' }, { text: oneLine(message) }]),
  ]
}

const stateTints: Readonly<Partial<Record<string, Tint>>> = { running: 'green', ended: 'bold' }

/** The name gives way, the rest does not. */
function headerLine(status: RunStatus, { width, nowMs, standing = status.state }: { readonly width: number; readonly nowMs: number; readonly standing: string | undefined }): Line {
  const end = status.state === 'ended' ? Date.parse(status.updated_at) : nowMs
  const duration = durationText(Math.max(0, end - Date.parse(status.started_at)) / 1000)
  // Nobody knows how long a run went that nobody runs.
  const time = ` · ${standing === status.state ? duration : `begun ${duration} ago`} · `
  return [{ text: cut(status.run_id, width - displayWidth(time) - standing.length), tint: 'bold' }, { text: time }, { text: standing, tint: stateTints[standing] ?? 'yellow' }]
}

type Running = RunStatus['running'][number]

/** The oldest first, as many as there is room for. */
function runningLines({ running }: RunStatus, { width, room, nowMs }: { readonly width: number; readonly room: number; readonly nowMs: number }): readonly Line[] {
  const byAge = [...running].sort((a, b) => (a.started_at < b.started_at ? -1 : a.started_at > b.started_at ? 1 : 0))
  const shown = byAge.length <= room ? byAge : byAge.slice(0, Math.max(0, room - 1))
  const lines = shown.map((attempt) => runningLine(attempt, width, nowMs))
  const hidden = byAge.length - shown.length
  return hidden > 0 && room > 0 ? [...lines, [{ text: `  and ${hidden} more`, tint: 'dim' }]] : lines
}

const narrow = 64

function runningLine(attempt: Running, width: number, nowMs: number): Line {
  const { phase, step, max_steps: maxSteps } = attempt
  const isNarrow = width < narrow
  const what = phase === 'agent' ? `agent ${step}${isNarrow ? '' : `/${maxSteps}`}` : (phase ?? 'waiting')
  const age = durationText(Math.max(0, nowMs - Date.parse(attempt.started_at)) / 1000)
  const end = `  ${what.padEnd(isNarrow ? 9 : 13)} ${age.padStart(7)}`
  const room = width - 2 - displayWidth(end)
  const name = nameIn(attempt, room, isNarrow)
  return [{ text: `  ${name}${' '.repeat(Math.max(0, room - displayWidth(name)))}` }, { text: end, tint: 'dim' }]
}

const idBeginning = 9

/** Of a long name the end of the task's id gives way, then the end of the domain; never which trial and attempt it is. */
function nameIn({ domain, id, trial, attempt }: Running, width: number, isNarrow: boolean): string {
  const task = `${domain}/${id}`
  const isFirst = trial === 1 && attempt === 1
  // Short as in the name of the attempt's folder.
  const rest = isNarrow && !isFirst ? ` ${trial}.${attempt}` : attemptName({ domain, id, trial, attempt }).slice(task.length)
  const room = width - rest.length
  const isRoomForDomain = domain.length + 1 + idBeginning <= room
  return `${isRoomForDomain ? cut(task, room) : `${cut(domain, Math.max(1, room - idBeginning - 1))}/${cut(id, idBeginning)}`}${rest}`
}

function eventLine({ at, text }: RunStatus['events'][number], nowMs: number): Line {
  const age = durationText(Math.max(0, nowMs - Date.parse(at)) / 1000)
  return [{ text: `${age} ago  `.padStart(13), tint: 'dim' }, { text: oneLine(text) }]
}
