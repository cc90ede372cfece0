import type { RunsProof } from './proof.ts'
import type { RunPlan } from './run-osworld.ts'

const solve = (name: string, numEnvs: number): RunPlan => ({ name, expectedReward: 1, numEnvs, args: ['--suite', 'starter', '--scripts', 'solve'] })

const unsolved = (numEnvs: number): readonly RunPlan[] => [
  { name: 'none', expectedReward: 0, numEnvs, args: ['--suite', 'starter', '--agent', 'none'] },
  { name: 'miss', expectedReward: 0, numEnvs, args: ['--suite', 'starter', '--scripts', 'miss'] },
]

const repeats = 10

export const starterTen: RunsProof = {
  name: 'starter-ten',
  claim: 'The starter suite, two attempts at a time, scores 1 on every task ten times in a row, and 0 on every task when nothing is done and when the task is missed.',
  plan: () => Promise.resolve([...Array.from({ length: repeats }, (_, index) => solve(`solve ${index + 1}`, 2)), ...unsolved(2)]),
}

export const starterFour: RunsProof = {
  name: 'starter-four',
  claim: 'The starter suite, four attempts at a time, scores 1 on every task three times in a row, and 0 on every task when nothing is done and when the task is missed.',
  plan: () => Promise.resolve([...[1, 2, 3].map((index) => solve(`solve ${index}`, 4)), ...unsolved(4)]),
}
