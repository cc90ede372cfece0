import type { Score } from '@osworld-e2b/contracts'
import type { AttemptEnd, RunModel, TrialModel } from '@osworld-e2b/report'
import { type Element, xmlDocument } from './xml.ts'

/**
 * A run as JUnit XML, for CI services: a suite a domain, a case a trial. A reward under 1 is a failure, an attempt without a score an error,
 * what was not run is skipped. The same run gives the same bytes.
 */
export function junitDocument({ document, contract, aggregate, trials }: RunModel): string {
  const order = new Map(contract.scoring.tasks.map(({ domain, id }, index) => [`${domain}/${id}`, index]))
  const place = ({ domain, id }: TrialModel) => order.get(`${domain}/${id}`) ?? order.size
  const sorted = [...trials].sort((a, b) => place(a) - place(b) || a.trial - b.trial)
  const suites = Object.keys(aggregate.domains).sort().map((domain) => {
    const cases = sorted.filter((trial) => trial.domain === domain)
    const scores = [...scoreProperties(`run.`, aggregate), ...scoreProperties('', aggregate.domains[domain])]
    return suiteElement(domain, cases, { timestamp: document.created_at, scores })
  })
  return xmlDocument({ name: 'testsuites', attributes: { name: document.run_id, ...countsOf(sorted) }, children: suites })
}

interface SuiteFacts {
  readonly timestamp: string
  readonly scores: readonly Element[]
}

function suiteElement(domain: string, trials: readonly TrialModel[], { timestamp, scores }: SuiteFacts): Element {
  // The format has no time zone.
  const attributes = { name: domain, ...countsOf(trials), timestamp: timestamp.replace(/\.\d+Z$|Z$/, '') }
  return { name: 'testsuite', attributes, children: [{ name: 'properties', attributes: {}, children: scores }, ...trials.map(caseElement)] }
}

function scoreProperties(prefix: string, score: Score | undefined): readonly Element[] {
  const value = (number: number | null | undefined) => (number === null || number === undefined ? 'none' : String(number))
  return [
    property(`${prefix}score_declared`, value(score?.score_declared)),
    property(`${prefix}coverage`, value(score?.coverage)),
    property(`${prefix}score_valid`, value(score?.score_valid)),
  ]
}

function property(name: string, value: string): Element {
  return { name: 'property', attributes: { name, value } }
}

type Verdict = 'passed' | 'failure' | 'error' | 'skipped'

function countsOf(trials: readonly TrialModel[]): Readonly<Record<string, string>> {
  const verdicts = trials.map(verdictOf)
  const count = (verdict: Verdict) => String(verdicts.filter((given) => given === verdict).length)
  return { tests: String(trials.length), failures: count('failure'), errors: count('error'), skipped: count('skipped'), time: trials.reduce((sum, trial) => sum + secondsOf(trial), 0).toFixed(3) }
}

function caseElement(trial: TrialModel): Element {
  const { domain, id, trial: number } = trial
  const verdict = verdictElement(trial)
  return {
    name: 'testcase',
    attributes: { classname: domain, name: number > 1 ? `${id}#${number}` : id, time: secondsOf(trial).toFixed(3) },
    ...(verdict === undefined ? {} : { children: [verdict] }),
  }
}

function verdictOf(trial: TrialModel): Verdict {
  if (trial.reward !== undefined) return trial.reward < 1 ? 'failure' : 'passed'
  return trial.attempts.at(-1)?.end === undefined ? 'skipped' : 'error'
}

function verdictElement(trial: TrialModel): Element | undefined {
  const last = trial.attempts.at(-1)
  switch (verdictOf(trial)) {
    case 'passed':
      return undefined
    case 'skipped':
      return { name: 'skipped', attributes: { message: last === undefined ? 'not run' : `attempt ${last.attempt} has not ended` } }
    case 'failure':
      return { name: 'failure', attributes: { type: 'reward', message: `reward ${trial.reward ?? 0} after ${stepsText(last?.end)}` }, children: [`evidence: ${last?.folder ?? 'none'}`] }
    case 'error':
      return errorElement(trial, last?.end)
  }
}

function errorElement({ attempts }: TrialModel, end: AttemptEnd | undefined): Element {
  if (end?.outcome.kind !== 'invalid') return { name: 'error', attributes: { type: 'unknown' } }
  const { reason, phase, message } = end.outcome
  const text = `${message}\nattempts: ${attempts.length}\nevidence: ${attempts.at(-1)?.folder ?? 'none'}`
  return { name: 'error', attributes: { type: reason, message: `${reason}${phase === undefined ? '' : ` in ${phase}`}: ${message}` }, children: [text] }
}

function stepsText(end: AttemptEnd | undefined): string {
  const steps = end?.steps ?? 0
  return `${steps} ${steps === 1 ? 'step' : 'steps'}`
}

/** Of all attempts: it is what the trial took. */
function secondsOf({ attempts }: TrialModel): number {
  return attempts.reduce((sum, { end }) => sum + (end?.seconds ?? 0), 0)
}
