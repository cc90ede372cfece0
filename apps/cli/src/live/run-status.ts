import { allowsAnother, trialId } from '@osworld-e2b/aggregation'
import type { ModelUsage, PauseReason, RunStatus } from '@osworld-e2b/contracts'
import type { AttemptIdentity, AttemptReport, CampaignEvent } from '@osworld-e2b/scheduler'
import { activeSeconds, costOf, etaSeconds } from './estimate.ts'
import { eventText } from './event-text.ts'
import { failedNow, type RunningAttempt, type StatusState } from './status-state.ts'

const keptEvents = 20

/** State after one more event, at a time in Unix milliseconds. */
export function foldStatus(state: StatusState, event: CampaignEvent, nowMs: number): StatusState {
  return withEventText(nextState(state, event, nowMs), event, nowMs)
}

/** `status.json` at a time in Unix milliseconds. */
export function statusDocument(state: StatusState, nowMs: number): RunStatus {
  const { plan, pauses, running } = state
  const seconds = activeSeconds(state, nowMs)
  return {
    schema_version: 1,
    run_id: plan.runId,
    updated_at: timestamp(nowMs),
    started_at: timestamp(plan.startedMs),
    state: state.stage === 'running' && pauses.size > 0 ? 'paused' : state.stage,
    pauses: [...pauses].map(([reason, message]) => ({ reason, message })),
    planned: plan.planned,
    valid: plan.before.valid + state.valid,
    failed: plan.before.failed + failedNow(state),
    reward_sum: plan.before.rewardSum + state.rewardSum,
    running: [...running.values()].map((attempt) => runningEntry(attempt, plan.maxSteps)),
    per_minute: state.valid > 0 && seconds > 0 ? (state.valid * 60) / seconds : null,
    eta_seconds: etaSeconds(state, nowMs),
    cost: costOf(state, nowMs),
    events: state.events,
  }
}

function nextState(state: StatusState, event: CampaignEvent, nowMs: number): StatusState {
  switch (event.type) {
    case 'attempt_started':
      return {
        ...state,
        running: withRunning(state, { identity: event.identity, startedMs: nowMs, phase: null, step: 0 }),
        failures: reopened(state.failures, trialId(event.identity)),
      }
    case 'attempt_phase':
      return changed(state, event.identity, { phase: event.phase })
    case 'attempt_step':
      return changed(state, event.identity, { step: event.step })
    case 'attempt_ended':
      return afterAttempt(state, event.identity, event.report)
    case 'run_paused':
      return { ...state, pauses: withEntry(state.pauses, event.reason, event.message), pausedSinceMs: state.pausedSinceMs ?? nowMs }
    case 'run_continued':
      return afterPause(state, event.reason, nowMs)
    case 'orphans_killed':
      return state
    case 'draining':
    case 'stopping':
      return { ...state, stage: event.type }
  }
}

function withRunning({ running }: StatusState, attempt: RunningAttempt): StatusState['running'] {
  return withEntry(running, trialId(attempt.identity), attempt)
}

function changed(state: StatusState, identity: AttemptIdentity, change: Partial<RunningAttempt>): StatusState {
  const known = state.running.get(trialId(identity))
  return known === undefined ? state : { ...state, running: withRunning(state, { ...known, ...change }) }
}

/** A trial that is tried again is open again, whatever was thought of it. */
function reopened(failures: StatusState['failures'], id: string): StatusState['failures'] {
  const known = failures.get(id)
  return known?.isFinal === true ? withEntry(failures, id, { ...known, isFinal: false }) : failures
}

function afterAttempt(state: StatusState, identity: AttemptIdentity, report: AttemptReport): StatusState {
  const id = trialId(identity)
  const running = without(state.running, id)
  const cost = attemptCost(report, state.plan.sandboxHourUsd)
  const ended = {
    attempts: state.ended.attempts + 1,
    seconds: state.ended.seconds + report.seconds,
    costUsd: state.ended.costUsd === null || cost === null ? null : state.ended.costUsd + cost,
  }
  const { outcome } = report
  if (outcome.kind === 'valid') return { ...state, running, ended, failures: without(state.failures, id), valid: state.valid + 1, rewardSum: state.rewardSum + outcome.reward }
  const outcomes = [...(state.failures.get(id)?.outcomes ?? []), outcome]
  const isFinal = !allowsAnother(outcomes, state.plan.maxAttemptsPerTrial)
  return { ...state, running, ended, failures: withEntry(state.failures, id, { outcomes, isFinal }) }
}

function attemptCost({ sandboxSeconds = 0, model }: AttemptReport, sandboxHourUsd: number | null): number | null {
  const sandbox = sandboxSeconds === 0 ? 0 : sandboxHourUsd === null ? null : (sandboxSeconds * sandboxHourUsd) / 3_600
  const models = modelCost(model)
  return sandbox === null || models === null ? null : sandbox + models
}

/** A sum over some of the calls is not the cost of all of them. */
function modelCost(model: ModelUsage | undefined): number | null {
  if (model === undefined) return 0
  return model.cost_known_calls < model.calls ? null : model.cost_usd
}

function afterPause(state: StatusState, reason: PauseReason, nowMs: number): StatusState {
  const pauses = without(state.pauses, reason)
  if (pauses.size > 0 || state.pausedSinceMs === undefined) return { ...state, pauses }
  return { ...state, pauses, pausedMs: state.pausedMs + Math.max(0, nowMs - state.pausedSinceMs), pausedSinceMs: undefined }
}

/** First attempts that start and steps are told by what runs; the rest is news. */
function withEventText(state: StatusState, event: CampaignEvent, nowMs: number): StatusState {
  const isNews = event.type !== 'attempt_phase' && !(event.type === 'attempt_started' && event.identity.attempt === 1)
  const text = isNews ? eventText(event) : undefined
  if (text === undefined) return state
  return { ...state, events: [...state.events, { at: timestamp(nowMs), text: `${text}.`.replace(/\.\.$/, '.') }].slice(-keptEvents) }
}

function runningEntry({ identity, startedMs, phase, step }: RunningAttempt, maxSteps: number): RunStatus['running'][number] {
  const { domain, id, trial, attempt } = identity
  return { domain, id, trial, attempt, phase, step, max_steps: maxSteps, started_at: timestamp(startedMs) }
}

function withEntry<Key, Value>(map: ReadonlyMap<Key, Value>, key: Key, value: Value): ReadonlyMap<Key, Value> {
  return new Map(map).set(key, value)
}

function without<Key, Value>(map: ReadonlyMap<Key, Value>, key: Key): ReadonlyMap<Key, Value> {
  const rest = new Map(map)
  rest.delete(key)
  return rest
}

function timestamp(ms: number): string {
  return new Date(ms).toISOString()
}
