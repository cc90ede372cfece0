import type { AttemptConfig, RelayConfigure } from '@osworld-e2b/contracts'
import type { Redactor } from '@osworld-e2b/redaction'
import type { OrphanReport } from './attempt-end.ts'
import type { ChildCommand } from './child-process.ts'
import type { ModelSession } from './model-session.ts'
import type { PhaseTimeouts } from './phase-timer.ts'
import type { TaskSource } from './task-copy.ts'

export interface AttemptPlan {
  /** Its `task_file` is where the attempt finds its own copy of the task. */
  readonly config: AttemptConfig
  /** Where the task comes from, and what it must be. */
  readonly task: TaskSource
  readonly relayConfigure: RelayConfigure
  readonly timeoutMs: number
  readonly phaseTimeoutsMs?: PhaseTimeouts
  /** What the attempt must report as the digest of its declared adjustments. */
  readonly adjustmentsSha256: string
}

export interface AttemptServices {
  readonly relayCommand: ChildCommand
  /** Hides the run's secrets in what children write; without it only what looks like a token is hidden. */
  readonly redactor?: Redactor
  /** Bytes that an attempt's folder may hold; 4 GiB unless said. */
  readonly folderLimitBytes?: number
  /** The confined attempt process, told where its control socket is and how its agent asks its model. */
  attemptCommand(config: AttemptConfig, controlSocket: string, modelEnvironment: Readonly<Record<string, string>>): ChildCommand
  /** The attempt's way to its model; for agents that ask none there is none. */
  openModel?(config: AttemptConfig): ModelSession | undefined
  /** Kills every sandbox with this metadata and lists again. */
  killSandboxes(metadata: Readonly<Record<string, string>>): Promise<OrphanReport>
  /** Parent of the folders that hold control sockets; short. */
  readonly temporaryFolder: string
  /** Milliseconds on a clock that never goes back. */
  monotonicMs(): number
}
