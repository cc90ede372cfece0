import { aggregate } from '@osworld-e2b/aggregation'
import { type Aggregate, type AttemptEvent, type LedgerEvent, maxMessageLength, type NotRunReason, type Orphans, type PauseReason } from '@osworld-e2b/contracts'
import type { AttemptReport } from './attempt-report.ts'
import type { AttemptIdentity, CampaignInput, CampaignResult, CampaignServices } from './campaign-types.ts'
import type { Pause } from './decide.ts'
import type { ProcessIdentity } from './process-identity.ts'

type Services = Pick<CampaignServices, 'clock' | 'owner' | 'writeAggregate'>

/** What a campaign writes down: every event of its ledger, and the fold of it. */
export class RunRecord {
  readonly #input: CampaignInput
  readonly #services: Services
  #written: Promise<unknown> = Promise.resolve()

  constructor(input: CampaignInput, services: Services) {
    this.#input = input
    this.#services = services
  }

  runStarted(): Promise<void> {
    const { sandboxHourUsd } = this.#input
    const { pid, host } = this.#services.owner
    return this.#append({ event: 'RUN_STARTED', timestamp: this.#timestamp(), pid, host, ...(sandboxHourUsd === undefined ? {} : { sandbox_hour_usd: sandboxHourUsd }) })
  }

  runEnded(reason: CampaignResult['reason'], notRun: Partial<Record<NotRunReason, number>>, orphans: Orphans | undefined): Promise<void> {
    return this.#append({
      event: 'RUN_ENDED',
      timestamp: this.#timestamp(),
      reason,
      ...(orphans === undefined ? {} : { orphans }),
      ...(Object.keys(notRun).length === 0 ? {} : { not_run: notRun }),
    })
  }

  paused({ reason, message }: Pause): Promise<void> {
    return this.#append({ event: 'RUN_PAUSED', timestamp: this.#timestamp(), reason, message: message.slice(0, maxMessageLength) })
  }

  continued(reason: PauseReason): Promise<void> {
    return this.#append({ event: 'RUN_CONTINUED', timestamp: this.#timestamp(), reason })
  }

  orphansKilled(when: 'start' | 'during', orphans: Orphans): Promise<void> {
    return this.#append({ event: 'ORPHANS_KILLED', timestamp: this.#timestamp(), when, orphans })
  }

  planned(identity: AttemptIdentity): Promise<void> {
    return this.#append({ event: 'PLANNED', ...this.#key(identity), attempt_dir: identity.attemptDir })
  }

  started(identity: AttemptIdentity, { pid, start }: ProcessIdentity): Promise<void> {
    return this.#append({ event: 'STARTED', ...this.#key(identity), pid, pid_start: start })
  }

  ended(identity: AttemptIdentity, { outcome, cleanup, seconds, steps, sandboxSeconds, model, catalogSha256 }: AttemptReport): Promise<void> {
    return this.#append({
      event: 'TERMINAL',
      ...this.#key(identity),
      outcome,
      cleanup,
      seconds,
      steps,
      ...(sandboxSeconds === undefined ? {} : { sandbox_seconds: sandboxSeconds }),
      ...(model === undefined ? {} : { model }),
      ...(catalogSha256 === undefined ? {} : { catalog_sha256: catalogSha256 }),
    })
  }

  fold(): Aggregate {
    const { runId, contract, ledger, labels } = this.#input
    const { tasks, trials } = contract.scoring
    return aggregate({ runId, tasks: tasks.map(({ domain, id }) => ({ domain, id })), trials, state: ledger.state, totals: ledger.totals(), updatedAt: this.#timestamp(), labels })
  }

  /** One write after the other, so that what was known last is what stays. */
  writeAggregate(): Promise<Aggregate> {
    const written = this.#written.then(async () => {
      const result = this.fold()
      await this.#services.writeAggregate(result)
      return result
    })
    this.#written = written.catch(() => undefined)
    return written
  }

  async #append(event: LedgerEvent): Promise<void> {
    await this.#input.ledger.append(event)
  }

  #key({ domain, id, trial, attempt }: AttemptIdentity): Pick<AttemptEvent, 'domain' | 'task_id' | 'trial' | 'attempt' | 'timestamp'> {
    return { domain, task_id: id, trial, attempt, timestamp: this.#timestamp() }
  }

  #timestamp(): string {
    return this.#services.clock.now().toISOString()
  }
}
