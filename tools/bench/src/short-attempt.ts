import { phases } from '@osworld-e2b/contracts'
import { type AttemptHooks, type AttemptIdentity, type AttemptReport, systemClock } from '@osworld-e2b/scheduler'

const stepMs = 100
const fewestSteps = 20
/** Attempts differ in length, so that their ends spread over time. */
const moreSteps = 21

/** An attempt of two to four seconds with a step every tenth of one; it has no processes and no sandbox. */
export async function runShortAttempt({ id }: AttemptIdentity, hooks: AttemptHooks): Promise<AttemptReport> {
  const startedMs = systemClock.monotonicMs()
  const steps = fewestSteps + (Number(id) % moreSteps)
  await hooks.onStarted({ pid: process.pid, start: '1' })
  for (const phase of phases) {
    hooks.onPhase(phase)
    if (phase !== 'agent') continue
    for (let step = 1; step <= steps; step += 1) {
      await systemClock.sleep(stepMs, hooks.signal)
      hooks.onStep(step)
    }
  }
  const seconds = (systemClock.monotonicMs() - startedMs) / 1_000
  return { outcome: { kind: 'valid', reward: 1 }, cleanup: 'success', seconds, sandboxSeconds: seconds, steps }
}
