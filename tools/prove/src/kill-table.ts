import type { InvalidReason } from '@osworld-e2b/contracts'

/** Who is killed. `attempt` is the Python process that runs the agent and the evaluators, `bwrap` what confines it. */
export const victims = ['coordinator', 'attempt', 'bwrap', 'relay', 'server', 'sandbox'] as const
export type Victim = (typeof victims)[number]

/**
 * When: right after the ledger's `PLANNED` and `STARTED`, at the beginning of each phase, after the first `TERMINAL`, and
 * after the last `TERMINAL` (before `RUN_ENDED`).
 */
export const boundaries = ['planned', 'started', 'start', 'setup', 'agent', 'evaluate', 'terminal', 'run_end'] as const
export type Boundary = (typeof boundaries)[number]

/** What a kill may cost. */
export interface Expectation {
  /** `one`: the attempt of the victim; `open`: every attempt that the ledger showed as planned and not ended. */
  readonly loses: 'one' | 'open'
  /** Reasons that a lost attempt may have. */
  readonly reasons: readonly InvalidReason[]
}

export interface Cell {
  readonly victim: Victim
  readonly boundary: Boundary
  readonly expected: Expectation
}

const everywhere = boundaries
const whileAttempted: readonly Boundary[] = ['started', 'start', 'setup', 'agent', 'evaluate', 'terminal']

interface Row {
  readonly boundaries: readonly Boundary[]
  readonly loses: Expectation['loses']
  readonly reasons: readonly InvalidReason[]
  /** Where it is another one than elsewhere. */
  readonly except?: Partial<Readonly<Record<Boundary, readonly InvalidReason[]>>>
  /** Why there are no cells for the other boundaries. */
  readonly absent?: Partial<Readonly<Record<Boundary, string>>>
}

const notYetStarted = 'an attempt has no process before STARTED'
const allEnded = 'all attempts have ended'

const table: Readonly<Record<Victim, Row>> = {
  coordinator: { boundaries: everywhere, loses: 'open', reasons: ['interrupted'] },
  attempt: { boundaries: whileAttempted, loses: 'one', reasons: ['runner_exit'], absent: { planned: notYetStarted, run_end: allEnded } },
  bwrap: { boundaries: whileAttempted, loses: 'one', reasons: ['runner_exit'], absent: { planned: notYetStarted, run_end: allEnded } },
  relay: { boundaries: ['planned', ...whileAttempted], loses: 'one', reasons: ['relay_failed'], absent: { run_end: allEnded } },
  // The attempts learn of it from their sandboxes or from the run's stop, whichever is first.
  server: { boundaries: everywhere, loses: 'open', reasons: ['interrupted', 'guest_lost', 'sandbox_create_failed', 'guest_not_ready'] },
  sandbox: {
    boundaries: ['start', 'setup', 'agent', 'evaluate', 'terminal'],
    loses: 'one',
    reasons: ['guest_lost'],
    except: { start: ['guest_not_ready', 'guest_lost'] },
    absent: { planned: 'the sandbox is made in the phase start', started: 'the sandbox is made in the phase start', run_end: allEnded },
  },
}

/** Every cell there is, victim by victim. */
export const cells: readonly Cell[] = victims.flatMap((victim) => {
  const { boundaries: there, loses, reasons, except } = table[victim]
  return there.map((boundary) => ({ victim, boundary, expected: { loses, reasons: except?.[boundary] ?? reasons } }))
})

/** Pairs that are no cells, with the reason. */
export const absences: readonly { readonly victim: Victim; readonly boundary: Boundary; readonly why: string }[] = victims.flatMap((victim) =>
  boundaries.flatMap((boundary) => {
    const why = table[victim].absent?.[boundary]
    return why === undefined ? [] : [{ victim, boundary, why }]
  }),
)

export function nameOfCell({ victim, boundary }: Pick<Cell, 'victim' | 'boundary'>): string {
  return `${victim}:${boundary}`
}
