import { type Assumptions, defaultAssumptions, sentencesOf } from './assumptions.ts'
import { type Choice, readCommandLine } from './command-line.ts'
import { type Figures, type Spreads, spreadsOf } from './figures.ts'
import { type Order, simulate } from './simulate.ts'
import { SimulateError } from './simulate-error.ts'
import { tableOf } from './table.ts'
import { targetLines } from './targets.ts'

const titles: Readonly<Record<Order, string>> = {
  suite: "Tasks in the suite's order",
  longest_first: 'Longest tasks first, by durations known from an earlier run',
}
const print = (line: string) => void process.stdout.write(`${line}\n`)

async function rowsOf(choice: Choice, order: Order, assumptions: Assumptions): Promise<readonly Spreads[]> {
  const rows: Spreads[] = []
  for (const sandboxes of choice.sandboxes) {
    const run = async (index: number): Promise<Figures> => {
      const { figures } = await simulate({ sandboxes, tasks: choice.tasks, trials: choice.trials, seed: String(choice.seed + index), order, assumptions })
      return figures
    }
    const figures: [Figures, ...Figures[]] = [await run(0)]
    for (let index = 1; index < choice.seeds; index += 1) figures.push(await run(index))
    rows.push(spreadsOf(figures))
    process.stderr.write(`simulated ${choice.seeds} × ${sandboxes} sandboxes, ${order.replace('_', ' ')}\n`)
  }
  return rows
}

async function main(choice: Choice): Promise<void> {
  const { timeToLiveSeconds = defaultAssumptions.timeToLiveSeconds, tasks, trials, seed, seeds } = choice
  const assumptions = { ...defaultAssumptions, timeToLiveSeconds }
  if (!choice.isJson) {
    print(`simulated: ${tasks} tasks, ${trials} ${trials === 1 ? 'trial' : 'trials'} each, by the campaign engine itself on a clock that jumps. Nothing ran, nothing was paid.`)
    print('Assumptions:')
    for (const sentence of sentencesOf(assumptions)) print(`- ${sentence}`)
    print(`Figures are ${seeds === 1 ? `of seed ${seed}` : `means of the seeds ${seed} to ${seed + seeds - 1}, with their ranges`}.`)
  }
  for (const order of ['suite', 'longest_first'] as const) {
    const rows = await rowsOf(choice, order, assumptions)
    if (choice.isJson) for (const row of rows) print(JSON.stringify({ simulated: true, order, tasks, trials, seed, seeds, ...row, assumptions }))
    else {
      print(`\n${titles[order]}:`)
      process.stdout.write(tableOf(rows))
      for (const line of targetLines(rows, choice)) print(line)
    }
  }
}

try {
  await main(readCommandLine(process.argv.slice(2)))
} catch (error) {
  if (!(error instanceof SimulateError)) throw error
  process.stderr.write(`${error.message}\n`)
  process.exitCode = error.code === 'usage' ? 2 : 1
}
