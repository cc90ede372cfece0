import { parseArgs } from 'node:util'
import { SimulateError } from './simulate-error.ts'

export interface Choice {
  readonly isJson: boolean
  readonly seed: number
  /** How many worlds are simulated: the seed and the ones after it. */
  readonly seeds: number
  readonly tasks: number
  readonly trials: number
  readonly sandboxes: readonly number[]
  readonly timeToLiveSeconds: number | undefined
}

export const targetSandboxes = 50
export const targetTasks = 361
const usage = 'use: npm run simulate [-- --sandboxes 8,20,50 --tasks N --trials N --seed N --seeds N --time-to-live SECONDS --json]'

/** Reads the arguments; every mistake is one sentence. */
export function readCommandLine(args: readonly string[]): Choice {
  const { values } = parse(args)
  const { seed = '1', seeds = '5', tasks = String(targetTasks), trials = '1', sandboxes = '8,20,50,100,1000' } = values
  return {
    isJson: values.json === true,
    seed: wholeNumber('--seed', seed, 1_000_000),
    seeds: wholeNumber('--seeds', seeds, 1_000),
    tasks: wholeNumber('--tasks', tasks, 10_000),
    trials: wholeNumber('--trials', trials, 100),
    sandboxes: sandboxes.split(',').map((text) => wholeNumber('--sandboxes', text, 10_000)),
    timeToLiveSeconds: values['time-to-live'] === undefined ? undefined : wholeNumber('--time-to-live', values['time-to-live'], 86_400),
  }
}

function wholeNumber(name: string, text: string, most: number): number {
  const number = /^\d+$/.test(text) ? Number(text) : 0
  if (number < 1 || number > most) throw new SimulateError('usage', `${name} ${text} is not a whole number from 1 to ${most}; ${usage}.`)
  return number
}

function parse(args: readonly string[]) {
  try {
    const options = {
      json: { type: 'boolean' },
      seed: { type: 'string' },
      seeds: { type: 'string' },
      tasks: { type: 'string' },
      trials: { type: 'string' },
      sandboxes: { type: 'string' },
      'time-to-live': { type: 'string' },
    } as const
    return parseArgs({ args: [...args], options, strict: true })
  } catch (error) {
    if (!(error instanceof TypeError)) throw error
    throw new SimulateError('usage', `${error.message.split('. ')[0] ?? ''}; ${usage}.`, { cause: error })
  }
}
