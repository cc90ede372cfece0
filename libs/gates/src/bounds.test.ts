import { describe, expect, test } from 'vitest'
import { fullSuite, parity, starter } from '../test/examples.ts'
import { bounds, budgetNotes } from './bounds.ts'

const unpriced = { sandboxHourUsd: null, modelRequestUsd: null }

test('the full suite may take 184,500 model requests in 369 sandbox hours', () => {
  expect(bounds(fullSuite(), { taskCount: 369, ...unpriced })).toEqual({
    tasks: 369,
    trials: 369,
    attempts: 738,
    sandbox_hours: 369,
    model_requests: 184_500,
    model_tokens: null,
    sandbox_cost_usd: null,
    model_cost_usd: null,
    cost_usd: null,
  })
})

test('the parity campaign may take 180,500 model requests', () => {
  expect(bounds(parity(), { taskCount: 361, ...unpriced }).model_requests).toBe(180_500)
})

test('trials multiply all of it', () => {
  const most = bounds(fullSuite({ 'scoring.trials': 3 }), { taskCount: 10, sandboxHourUsd: 0.5, modelRequestUsd: 0.01 })
  expect(most).toMatchObject({ tasks: 10, trials: 30, attempts: 60, sandbox_hours: 30, model_requests: 15_000, sandbox_cost_usd: 15, model_cost_usd: 150, cost_usd: 165 })
})

describe('unknown is not zero:', () => {
  test('an unknown price of one part leaves the whole unknown', () => {
    expect(bounds(fullSuite(), { taskCount: 369, sandboxHourUsd: 0.5, modelRequestUsd: null })).toMatchObject({ sandbox_cost_usd: 184.5, model_cost_usd: null, cost_usd: null })
    expect(bounds(fullSuite(), { taskCount: 369, sandboxHourUsd: null, modelRequestUsd: 0.5 })).toMatchObject({ sandbox_cost_usd: null, cost_usd: null })
  })

  test("an agent of the user's own may ask as often as it likes, but never beyond the budget of its endpoints", () => {
    const own = { 'scoring.agent': { kind: 'module', class: 'mine:Agent', model: 'm', settings: {} } }
    expect(bounds(fullSuite({ ...own, 'operation.budget': undefined }), { taskCount: 369, sandboxHourUsd: 1, modelRequestUsd: 1 })).toMatchObject({ model_requests: null, model_cost_usd: null, cost_usd: null })
    expect(bounds(fullSuite({ ...own, 'operation.budget': { model_requests: 50 } }), { taskCount: 369, sandboxHourUsd: 1, modelRequestUsd: 1 })).toMatchObject({ model_requests: 50, model_cost_usd: 50, cost_usd: 419 })
    expect(bounds(fullSuite({ ...own, 'operation.endpoints': undefined }), { taskCount: 369, sandboxHourUsd: 1, modelRequestUsd: 1 })).toMatchObject({ model_requests: null, model_tokens: null, cost_usd: null })
  })

  test('a request is tried five times where the contract says nothing', () => {
    expect(bounds(fullSuite({ 'operation.model_call_attempts': undefined }), { taskCount: 369, ...unpriced }).model_requests).toBe(184_500)
  })

  test('scripts ask no model, and this machine has no price', () => {
    expect(bounds(starter(), { taskCount: 22, ...unpriced })).toMatchObject({ attempts: 66, sandbox_hours: 11, model_requests: 0, model_tokens: 0, cost_usd: 0 })
  })

  test('scripts on E2B cost their sandboxes', () => {
    expect(bounds(starter({ 'operation.route.kind': 'e2b' }), { taskCount: 22, sandboxHourUsd: 2, modelRequestUsd: null })).toMatchObject({ model_cost_usd: 0, cost_usd: 22 })
  })
})

describe('a budget', () => {
  const budget = { sandbox_hours: 368, model_requests: 184_499, cost_usd_cents: 45_00 }
  const most = bounds(fullSuite(), { taskCount: 369, sandboxHourUsd: 0.33, modelRequestUsd: 0 })

  test('below its bound is told for each of its parts', () => {
    expect(budgetNotes(fullSuite({ 'operation.budget': budget }), most)).toEqual([
      'the budget of 368 sandbox hours is below the upper bound of 369: the run may end before its last task',
      'the budget of 184,499 model requests is below the upper bound of 184,500: the run may end before its last task',
      'the budget of $45.00 is below the upper bound of $121.77: the run may end before its last task',
    ])
  })

  test('of dollars cannot be held against an unknown price', () => {
    expect(budgetNotes(fullSuite({ 'operation.budget': { cost_usd_cents: 4500 } }), { ...most, cost_usd: null })).toEqual(['the budget of $45.00 cannot be held against an upper bound: the price is not known'])
  })

  test('of tokens cannot be held against a bound, unless no model is asked', () => {
    expect(budgetNotes(fullSuite({ 'operation.budget': { model_tokens: 2_000_000 } }), most)).toEqual(['the budget of 2,000,000 model tokens cannot be held against an upper bound: what a request takes is not known before it is answered'])
    expect(budgetNotes(starter({ 'operation.budget': { model_tokens: 1 } }), bounds(starter(), { taskCount: 22, ...unpriced }))).toEqual([])
  })

  test('that is enough, or absent, is not told', () => {
    expect(budgetNotes(fullSuite({ 'operation.budget': { sandbox_hours: 369, model_requests: 184_500, cost_usd_cents: 12_177 } }), most)).toEqual([])
    expect(budgetNotes(fullSuite({ 'operation.budget': undefined }), most)).toEqual([])
  })
})
