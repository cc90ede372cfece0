import { expect, test } from 'vitest'
import { failuresOf } from './expectation.ts'
import type { RunFigure, TaskFigure } from './record.ts'

const bread: TaskFigure = { task: { domain: 'os', id: 'bread' }, reward: 1, invalid: [], seconds: 3, steps: 2 }
const solve: RunFigure = { name: 'solve 1', expected_reward: 1, num_envs: 2, exit_code: 0, seconds: 4, labels: [], planned_tasks: 1, tasks: [bread] }

test('runs that are as expected have no failures', () => {
  const none: RunFigure = { ...solve, name: 'none', expected_reward: 0, tasks: [{ ...bread, reward: 0 }] }
  expect(failuresOf([solve, { ...solve, name: 'solve 2' }, none])).toEqual([])
})

test('a wrong reward is named with its task, and so is the difference between repeats', () => {
  const second: RunFigure = { ...solve, name: 'solve 2', tasks: [{ ...bread, reward: 0 }] }
  expect(failuresOf([solve, second])).toEqual(['solve 2: os/bread scored 0 instead of reward 1.', 'solve: os/bread differs between repeats: 1, 0.'])
})

test('a task without a score is no zero: it fails where 0 is expected, with its reason', () => {
  const none: RunFigure = { ...solve, name: 'none', expected_reward: 0, tasks: [{ ...bread, reward: null, invalid: ['guest_lost'] }] }
  expect(failuresOf([none])).toEqual(['none: os/bread has no score (guest_lost) instead of reward 0.'])
})

test('a run that ended badly or lacks tasks fails even when the tasks it has are right', () => {
  expect(failuresOf([{ ...solve, exit_code: 1, planned_tasks: 2 }])).toEqual([
    'solve 1: osworld run ended with exit code 1 instead of 0.',
    'solve 1: 1 of 2 tasks were run.',
  ])
})

test('a run without tasks or without a readable result proves nothing', () => {
  expect(failuresOf([{ ...solve, planned_tasks: 0, tasks: [] }])).toEqual(['solve 1: 0 of 0 tasks were run.'])
  expect(failuresOf([{ ...solve, planned_tasks: null, tasks: [] }])).toEqual(['solve 1: the run left no readable result.'])
})

test('a task that one repeat lacks is a difference', () => {
  const second: RunFigure = { ...solve, name: 'solve 2', tasks: [{ ...bread, task: { domain: 'os', id: 'milk' } }] }
  expect(failuresOf([solve, second])).toEqual(['solve: os/bread differs between repeats: 1, none.', 'solve: os/milk differs between repeats: none, 1.'])
})
