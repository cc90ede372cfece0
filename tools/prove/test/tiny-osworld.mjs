// Stands where `osworld` stands: makes a run folder by its flags alone, without a desktop.
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const args = process.argv.slice(2)
const value = (flag) => args[args.indexOf(flag) + 1]
const folder = join(value('--results'), value('--run-id'))
mkdirSync(folder, { recursive: true })
writeFileSync(join(folder, 'arguments.json'), JSON.stringify(args))

if (args.includes('--wait')) {
  process.on('SIGINT', () => {
    writeFileSync(join(folder, 'stopped'), '')
    process.exit(130)
  })
  process.stderr.write('waiting\n')
  setInterval(() => undefined, 1_000)
} else if (args.includes('--refuse')) {
  process.stderr.write('There is no suite here.\n')
  process.exitCode = 2
} else {
  finish(args.includes('--reward') ? Number(value('--reward')) : 1)
}

function finish(reward) {
  const key = { domain: 'os', task_id: 'bread', trial: 1, attempt: 1, timestamp: '2026-03-04T05:06:07.000Z' }
  const events = [
    { event: 'PLANNED', ...key, attempt_dir: 'attempts/os/bread/1.1' },
    { event: 'TERMINAL', ...key, outcome: { kind: 'valid', reward }, cleanup: 'success', seconds: 1.5, steps: 2 },
  ]
  const score = { planned_tasks: 1, attempted_tasks: 1, valid_tasks: 1, remaining_tasks: 0, reward_sum: reward, score_declared: reward, score_valid: reward, coverage: 1 }
  const counts = { trials: 1, planned_attempts: 1, started_attempts: 1, terminal_attempts: 1, invalid_by_reason: {}, attempt_seconds: 1.5 }
  const aggregate = { schema_version: 1, run_id: 'tiny', updated_at: key.timestamp, complete: true, ...score, ...counts, domains: { os: score }, unverified: true }
  writeFileSync(join(folder, 'attempts.jsonl'), events.map((event) => `${JSON.stringify(event)}\n`).join(''))
  writeFileSync(join(folder, 'aggregate.json'), JSON.stringify(aggregate))
  process.stdout.write('os/bread: ended\n')
}
