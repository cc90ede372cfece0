// Stands where `osworld` stands for whoever kills: one task, a relay as a child, a ledger that resumes. With --hold it stays in its agent phase
// until its relay or itself is killed; --flaw says in which one way it is wrong.
import { spawn } from 'node:child_process'
import { appendFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const args = process.argv.slice(2)
const value = (flag) => (args.includes(flag) ? args[args.indexOf(flag) + 1] : undefined)
const folder = join(value('--results'), value('--run-id'))
const ledger = join(folder, 'attempts.jsonl')
const timestamp = '2026-03-04T05:06:07.000Z'
mkdirSync(join(folder, 'relay-bin', 'dist'), { recursive: true })
const relayMain = join(folder, 'relay-bin', 'dist', 'main.js')
writeFileSync(relayMain, "require('node:fs').openSync(process.argv[2], 'a'); process.stdin.on('end', () => process.exit()).resume()")
const flawFile = join(folder, 'flaw')
if (!existsSync(flawFile)) writeFileSync(flawFile, value('--flaw') ?? '')
const flaw = readFileSync(flawFile, 'utf8')

const events = () => (existsSync(ledger) ? readFileSync(ledger, 'utf8').split('\n').filter(Boolean).map((line) => JSON.parse(line)) : [])
const append = (event) => appendFileSync(ledger, `${JSON.stringify({ ...event, timestamp })}\n`)
const key = (attempt) => ({ domain: 'os', task_id: 'bread', trial: 1, attempt })
const end = (attempt, outcome) => append({ event: 'TERMINAL', ...key(attempt), outcome, cleanup: 'success', seconds: 1, steps: 1 })
const say = (line) => process.stdout.write(`${JSON.stringify(line)}\n`)

async function attempt(number, hold) {
  const attemptDir = `attempts/os/bread/1.${number}`
  mkdirSync(join(folder, attemptDir), { recursive: true })
  append({ event: 'PLANNED', ...key(number), attempt_dir: attemptDir })
  const relay = spawn(process.execPath, [relayMain, join(folder, attemptDir, 'relay-events.jsonl')], { stdio: ['pipe', 'ignore', 'ignore'] })
  if (flaw === 'leaks') spawn('sleep', ['600'], { detached: true, stdio: 'ignore' }).unref()
  append({ event: 'STARTED', ...key(number), pid: process.pid, pid_start: '1' })
  say({ type: 'attempt_phase', phase: 'agent', identity: { attemptDir } })
  const died = new Promise((resolve) => relay.on('exit', resolve))
  if (hold) {
    await died
    return end(number, { kind: 'invalid', reason: 'relay_failed', message: 'The relay died.' })
  }
  relay.stdin.end()
  await died
  end(number, { kind: 'valid', reward: flaw === 'scores less when killed' && number > 1 ? 0.5 : 1 })
}

const before = events().filter(({ event }) => event === 'PLANNED').length
if (events().filter(({ event }) => event === 'TERMINAL').length < before) end(before, { kind: 'invalid', reason: 'interrupted', message: 'Killed.' })
if (args.includes('--hold')) await attempt(before + 1, true)
await attempt(events().filter(({ event }) => event === 'PLANNED').length + 1, false)
finish()
append({ event: 'RUN_ENDED', reason: 'complete' })

function finish() {
  const ends = events().filter(({ event }) => event === 'TERMINAL')
  const reward = ends.at(-1).outcome.reward
  const invalid = {}
  for (const { outcome } of ends) if (outcome.kind === 'invalid') invalid[outcome.reason] = (invalid[outcome.reason] ?? 0) + 1
  const score = { planned_tasks: 1, attempted_tasks: 1, valid_tasks: 1, remaining_tasks: 0, reward_sum: reward, score_declared: reward, score_valid: reward, coverage: 1 }
  const counts = { trials: 1, planned_attempts: ends.length, started_attempts: ends.length, terminal_attempts: ends.length, invalid_by_reason: invalid, attempt_seconds: 1 }
  writeFileSync(join(folder, 'aggregate.json'), JSON.stringify({ schema_version: 1, run_id: 'tiny', updated_at: timestamp, complete: true, ...score, ...counts, domains: { os: score } }))
}
