import { figuresOf, type LogNormal, twinOf, withMean, withMedian } from './log-normal.ts'

/** Everything that a simulated campaign supposes about the world. */
export interface Assumptions {
  /** From the ready sandbox to the end of the evaluation. */
  readonly attemptSeconds: LogNormal
  /** From asking for a sandbox to its complete desktop. */
  readonly readySeconds: LogNormal
  readonly vanishShare: number
  readonly createFailureShare: number
  readonly burstSeconds: number
  readonly createsPerSecond: number
  readonly vcpus: number
  readonly gibs: number
  readonly usdPerVcpuHour: number
  readonly usdPerGibHour: number
  /** A sandbox whose life is not extended for so long ends; a heartbeat extends it at every third of it. */
  readonly timeToLiveSeconds: number
  /** From the end of a sandbox to the attempt that notices it. */
  readonly noticeSeconds: number
  readonly killSeconds: number
  readonly setupShare: number
  readonly evaluateShare: number
  readonly steps: number
  readonly solvedShare: number
  readonly maxAttemptsPerTrial: number
  /** Sigma of the log-normal error of durations that are known beforehand. */
  readonly durationError: number
}

export const defaultAssumptions: Assumptions = {
  attemptSeconds: withMean({ mean: 15 * 60, p95: 35 * 60 }),
  readySeconds: withMedian({ median: 6, p95: 20 }),
  vanishShare: 0.02,
  createFailureShare: 0.01,
  burstSeconds: 60,
  createsPerSecond: 5,
  vcpus: 4,
  gibs: 8,
  usdPerVcpuHour: 0.0504,
  usdPerGibHour: 0.0162,
  timeToLiveSeconds: 180,
  noticeSeconds: 20,
  killSeconds: 2,
  setupShare: 0.08,
  evaluateShare: 0.04,
  steps: 25,
  solvedShare: 0.4,
  maxAttemptsPerTrial: 3,
  durationError: 0.35,
}

export function usdPerHour({ vcpus, gibs, usdPerVcpuHour, usdPerGibHour }: Assumptions): number {
  return vcpus * usdPerVcpuHour + gibs * usdPerGibHour
}

/** One plain sentence for each assumption. */
export function sentencesOf(assumptions: Assumptions): readonly string[] {
  const { attemptSeconds: length, readySeconds: ready } = assumptions
  const twin = twinOf(length)
  const minutes = (seconds: number) => (seconds / 60).toFixed(1)
  const percent = (share: number) => `${(share * 100).toFixed(0)} %`
  const heartbeat = (assumptions.timeToLiveSeconds / 3).toFixed(0)
  return [
    `An attempt works for a log-normal time: mean ${minutes(figuresOf(length).mean)} min, median ${minutes(figuresOf(length).median)} min, p95 ${minutes(figuresOf(length).p95)} min (mu ${length.mu.toFixed(3)} of seconds, sigma ${length.sigma.toFixed(3)}). Another log-normal has the same mean and p95, with sigma ${twin.sigma.toFixed(3)} and a median of ${figuresOf(twin).median.toFixed(0)} s; no suite looks like that.`,
    'The time belongs to the trial: another attempt at it takes as long.',
    `Durations that are known from an earlier run are off by a log-normal factor of sigma ${assumptions.durationError}.`,
    `From create to ready is log-normal: median ${figuresOf(ready).median.toFixed(0)} s, p95 ${figuresOf(ready).p95.toFixed(0)} s.`,
    `${percent(assumptions.vanishShare)} of the sandboxes vanish, evenly over their lives; the attempt notices after ${assumptions.noticeSeconds} s, and a vanished sandbox is not paid any more.`,
    `${percent(assumptions.createFailureShare)} of the creates fail, at once and unpaid.`,
    `Once an hour, at a random second, the API and all sandboxes answer 502 for ${assumptions.burstSeconds} s: creates, lists and kills fail; what runs repeats its requests and stands still, paid, until the burst is over.`,
    `A sandbox lives for ${assumptions.timeToLiveSeconds} s after its last heartbeat, and one is sent every ${heartbeat} s: a burst that is longer than what is left ends it.`,
    `The agent makes ${assumptions.steps} even steps; set-up takes ${percent(assumptions.setupShare)} of an attempt, the evaluation ${percent(assumptions.evaluateShare)}, and ${percent(assumptions.solvedShare)} of the trials are solved.`,
    `The provider refuses a create beyond ${assumptions.createsPerSecond} in one second, and one beyond the number of sandboxes.`,
    `A sandbox is paid from the create until it is gone, which takes ${assumptions.killSeconds} s after the kill: ${assumptions.vcpus} vCPU at $${assumptions.usdPerVcpuHour} and ${assumptions.gibs} GiB at $${assumptions.usdPerGibHour} an hour. The model costs nothing here.`,
    `A trial is tried at most ${assumptions.maxAttemptsPerTrial} times. No attempt is cut off by a time-out, and neither model nor evaluator ever fails.`,
    `Busy is the time that ready sandboxes work, discarded attempts included; discarded is what attempts without a score paid.`,
  ]
}
