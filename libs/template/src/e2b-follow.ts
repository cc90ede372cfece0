import type { Connection } from '@osworld-e2b/contracts'
import type { BuildInfo, components } from 'e2b'
import { stepIndex, type BuildProgress } from './build-progress.ts'
import type { Clock } from './clock.ts'
import { apiClient, requireData } from './e2b-client.ts'
import { TemplateError } from './template-error.ts'

export interface FollowOptions {
  readonly build: BuildInfo
  readonly connection: Connection
  readonly stepNames: readonly string[]
  readonly onProgress: (progress: BuildProgress) => void
  readonly signal: AbortSignal
  readonly clock: Clock
}

type BuildState = components['schemas']['TemplateBuildInfo']
type LogLine = components['schemas']['BuildLogEntry']

const pollIntervalMs = 400
/** A server that was there a moment ago may miss a poll or two; a build is too dear to be given up for that. */
const lostPollsAllowed = 5
const linesInError = 15

/**
 * Reads a build's state and log until it ends. The SDK's own waiting drops the number of the failing step, and the
 * step of each log line, both of which people want to see.
 */
export async function followBuild(options: FollowOptions): Promise<void> {
  const report = stepReporter(options)
  const lines: LogLine[] = []
  for (;;) {
    const state = await readState(options, lines.length)
    for (const line of state.logEntries) report(line)
    lines.push(...state.logEntries)
    // A reply holds at most 100 lines, so the last ones may come after the end was told.
    if (state.logEntries.length > 0) continue
    if (state.status === 'ready') return
    if (state.status === 'error') throw failure(options, state, lines)
    await options.clock.sleep(pollIntervalMs, options.signal)
  }
}

async function readState(options: FollowOptions, logsOffset: number): Promise<BuildState> {
  for (let lost = 0; ; lost += 1) {
    try {
      return await requestState(options, logsOffset)
    } catch (error) {
      if (options.signal.aborted || error instanceof TemplateError || lost >= lostPollsAllowed) throw error
      options.onProgress({ kind: 'log', level: 'warn', message: `The build's state could not be read (${String(error)}); asking again.` })
      await options.clock.sleep(pollIntervalMs * 2 ** lost, options.signal)
    }
  }
}

async function requestState({ build, connection, signal }: FollowOptions, logsOffset: number): Promise<BuildState> {
  const path = { templateID: build.templateId, buildID: build.buildId }
  const answer = await apiClient(connection).GET('/templates/{templateID}/builds/{buildID}/status', {
    params: { path, query: { logsOffset } },
    signal,
  })
  if (answer.response.status >= 500) throw new Error(`the server answered ${answer.response.status}`)
  return requireData(`the state of build ${build.buildId}`, answer)
}

function stepReporter({ stepNames, onProgress }: FollowOptions): (line: LogLine) => void {
  let current = -1
  return (line) => {
    const index = stepIndex(line.step, stepNames.length) ?? current
    if (index > current) {
      current = index
      onProgress({ kind: 'step', index, total: stepNames.length, name: stepNames[index] ?? '' })
    }
    onProgress({ kind: 'log', level: line.level, message: line.message })
  }
}

function failure({ build, stepNames }: FollowOptions, state: BuildState, lines: readonly LogLine[]): TemplateError {
  const index = stepIndex(state.reason?.step, stepNames.length)
  const where = index === undefined ? 'at an unnamed step' : `at step ${index} of ${stepNames.length - 1}, "${stepNames[index] ?? ''}"`
  const reason = state.reason?.message ?? 'the server gave no reason'
  const told = lines.filter((line) => line.step === state.reason?.step).map((line) => line.message.trimEnd())
  return new TemplateError('build_failed', `The build of ${build.name} failed ${where}: ${reason}.${tailOf(told, reason)}`)
}

/** Some servers repeat a step's last lines in the reason, others do not. */
function tailOf(told: readonly string[], reason: string): string {
  const last = told.at(-1)
  if (last === undefined || reason.includes(last)) return ''
  return `\nIts last lines were:\n${told.slice(-linesInError).map((line) => `  ${line}`).join('\n')}`
}
