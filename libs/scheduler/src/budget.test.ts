import { expect, test } from 'vitest'
import { budgetProblem, type Spending } from './budget.ts'

const none = { sandboxSeconds: 0, modelRequests: 0, modelTokens: 0, modelUsd: 0 }
const spending: Spending = { spent: none, spentUsd: 0, reserved: none, need: none, sandboxHourUsd: 1 }

test('without a budget everything holds', () => {
  expect(budgetProblem(undefined, { ...spending, need: { ...none, modelRequests: 1e9 } })).toBeUndefined()
})

test.each([
  ['sandbox_hours', 2, 'sandboxSeconds', 3_600, 'The budget of 2 sandbox hours does not hold another attempt.'],
  ['model_requests', 30, 'modelRequests', 15, 'The budget of 30 model requests does not hold another attempt.'],
  ['model_tokens', 30, 'modelTokens', 15, 'The budget of 30 model tokens does not hold another attempt.'],
] as const)('%s counts what is spent, what is reserved and what is needed', (name, limit, amount, half, sentence) => {
  const fits = { ...spending, spent: { ...none, [amount]: half }, need: { ...none, [amount]: half } }
  expect(budgetProblem({ [name]: limit }, fits)).toBeUndefined()
  expect(budgetProblem({ [name]: limit }, { ...fits, reserved: { ...none, [amount]: 1 } })).toBe(sentence)
})

test('money counts sandboxes and model together, and an unknown price holds no budget of money', () => {
  const used = { ...spending, spentUsd: 0.5, reserved: { ...none, sandboxSeconds: 3_600 }, need: { ...none, modelUsd: 0.5 } }
  expect(budgetProblem({ cost_usd_cents: 200 }, used)).toBeUndefined()
  expect(budgetProblem({ cost_usd_cents: 199 }, used)).toBe('The budget of 1.99 dollars does not hold another attempt.')
  expect(budgetProblem({ cost_usd_cents: 1_000 }, { ...used, spentUsd: null })).toMatch(/^The budget of 10 dollars/)
  expect(budgetProblem({ cost_usd_cents: 1_000 }, { ...used, sandboxHourUsd: undefined })).toMatch(/^The budget of 10 dollars/)
})
