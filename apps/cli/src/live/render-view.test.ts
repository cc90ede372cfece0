import type { RunStatus } from '@osworld-e2b/contracts'
import { expect, test } from 'vitest'
import { displayWidth } from './one-line.ts'
import { paintFor } from './paint.ts'
import { renderView } from './render-view.ts'

const nowMs = Date.parse('2026-01-01T02:00:00.000Z')
const at = (secondsAgo: number) => new Date(nowMs - secondsAgo * 1000).toISOString()
const id = (index: number) => `030eeff7-b492-4218-b312-${String(index).padStart(12, '0')}`

function attempts(count: number): RunStatus['running'] {
  return Array.from({ length: count }, (_, index) => ({
    domain: index % 2 === 0 ? 'chrome' : 'libreoffice_calc', id: id(index), trial: 1, attempt: 1,
    phase: index % 3 === 0 ? 'agent' as const : 'setup' as const, step: index, max_steps: 15, started_at: at(1000 - index),
  }))
}

const status: RunStatus = {
  schema_version: 1, run_id: '2026-01-01-night', updated_at: at(1), started_at: at(3_700), state: 'running', pauses: [],
  planned: 361, valid: 120, failed: 4, reward_sum: 50.5, running: attempts(3), per_minute: 2.36, eta_seconds: 5_400,
  cost: { so_far_usd: 12.4, forecast_usd: 36.123 },
  events: [
    { at: at(200), text: 'os/a: reward 1, 4 steps, 62.1 s.' },
    { at: at(61), text: 'os/b: no score (guest_lost): The sandbox is gone, 2 steps, 31.0 s.' },
  ],
}

test('a campaign at 100 columns', () => {
  expect(renderView(status, { columns: 100, rows: 30, nowMs })).toMatchInlineSnapshot(`
    "2026-01-01-night · 62 min · running
    █████████████████████████████████▓▒░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░
    120/361 valid · 4 failed · 3 running · 234 to go
    score 0.1399 of all planned · coverage 0.3324 · 0.4208 of the valid
    2.4 valid a minute · about 90 min left · $12.40 so far · $36.12 forecast
      chrome/030eeff7-b492-4218-b312-000000000000                                 agent 0/15     17 min
      libreoffice_calc/030eeff7-b492-4218-b312-000000000001                       setup          17 min
      chrome/030eeff7-b492-4218-b312-000000000002                                 setup          17 min
      3 min ago  os/a: reward 1, 4 steps, 62.1 s.
       61 s ago  os/b: no score (guest_lost): The sandbox is gone, 2 steps, 31.0 s."
  `)
})

test('the same in a terminal of 40 columns and 14 rows, paused, with 100 attempts', () => {
  const paused: RunStatus = { ...status, state: 'paused', running: attempts(100), pauses: [{ reason: 'disk_full', message: 'The disk of the run folder has 3 MB left.' }] }
  expect(renderView(paused, { columns: 40, rows: 14, nowMs })).toMatchInlineSnapshot(`
    "2026-01-01-night · 62 min · paused
    █████████████▓▒▒▒▒▒▒▒▒▒▒▒░░░░░░░░░░░░░░
    120/361 valid · 4 failed · 100 running
    137 to go
    score 0.1399 of all planned
    coverage 0.3324 · 0.4208 of the valid
    2.4 valid a minute · about 90 min left
    $12.40 so far · $36.12 forecast
    paused: The disk of the run folder has…
      chrome/030eeff7-b…  agent 0    17 min
      libreof…/030eeff7…  setup      17 min
      and 98 more
       61 s ago  os/b: no score (guest_los…"
  `)
})

test('a hundred attempts at 80 columns and 24 rows: the oldest are seen, the rest is counted', () => {
  expect(renderView({ ...status, running: attempts(100) }, { columns: 80, rows: 24, nowMs, events: 2 })).toMatchInlineSnapshot(`
    "2026-01-01-night · 62 min · running
    ██████████████████████████▓▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░
    120/361 valid · 4 failed · 100 running · 137 to go
    score 0.1399 of all planned · coverage 0.3324 · 0.4208 of the valid
    2.4 valid a minute · about 90 min left · $12.40 so far · $36.12 forecast
      chrome/030eeff7-b492-4218-b312-000000000000             agent 0/15     17 min
      libreoffice_calc/030eeff7-b492-4218-b312-000000000001   setup          17 min
      chrome/030eeff7-b492-4218-b312-000000000002             setup          17 min
      libreoffice_calc/030eeff7-b492-4218-b312-000000000003   agent 3/15     17 min
      chrome/030eeff7-b492-4218-b312-000000000004             setup          17 min
      libreoffice_calc/030eeff7-b492-4218-b312-000000000005   setup          17 min
      chrome/030eeff7-b492-4218-b312-000000000006             agent 6/15     17 min
      libreoffice_calc/030eeff7-b492-4218-b312-000000000007   setup          17 min
      chrome/030eeff7-b492-4218-b312-000000000008             setup          17 min
      libreoffice_calc/030eeff7-b492-4218-b312-000000000009   agent 9/15     17 min
      chrome/030eeff7-b492-4218-b312-000000000010             setup          17 min
      libreoffice_calc/030eeff7-b492-4218-b312-000000000011   setup          16 min
      chrome/030eeff7-b492-4218-b312-000000000012             agent 12/15    16 min
      libreoffice_calc/030eeff7-b492-4218-b312-000000000013   setup          16 min
      chrome/030eeff7-b492-4218-b312-000000000014             setup          16 min
      and 85 more
      3 min ago  os/a: reward 1, 4 steps, 62.1 s.
       61 s ago  os/b: no score (guest_lost): The sandbox is gone, 2 steps, 31.0 s."
  `)
})

test('which trial and attempt it is stays readable however narrow the terminal is', () => {
  const running = attempts(1).map((attempt) => ({ ...attempt, domain: 'libreoffice_calc', trial: 2, attempt: 3 }))
  const view = (columns: number) => renderView({ ...status, running }, { columns, rows: 20, nowMs })
  expect(view(80)).toContain('  libreoffice_calc/030eeff7-b492-4218… trial 2 attempt 3  agent 0/15     17 min')
  expect(view(50)).toContain('  libreoffice_c…/030eeff7… 2.3  agent 0    17 min')
})

test('before anything is known nothing is claimed', () => {
  const young: RunStatus = { ...status, valid: 0, failed: 0, reward_sum: 0, running: [], per_minute: null, eta_seconds: null, cost: { so_far_usd: null, forecast_usd: null }, events: [] }
  expect(renderView(young, { columns: 80, rows: 24, nowMs }).split('\n').slice(2)).toEqual(['0/361 valid · 361 to go', 'no score yet', 'cost unknown'])
})

const hostile: RunStatus = {
  ...status,
  run_id: 'a-very-long-name-of-a-run-that-somebody-gave-it-by-hand',
  state: 'paused',
  running: attempts(70),
  pauses: [{ reason: 'api_unreachable', message: '漢字\u001B[2J\n'.repeat(40) }],
  events: Array.from({ length: 20 }, () => ({ at: at(5), text: `os/a: no score (guest_lost): ${'漢字👩‍👩‍👧e\u0301\u001B[31m'.repeat(30)}\r\nx.` })),
}
const sizes = [40, 41, 63, 64, 65, 80, 200].flatMap((columns) => [1, 2, 5, 8, 9, 12, 24, 100].map((rows) => [columns, rows] as const))

test.each(sizes)('at %d columns and %d rows every line fits, one row and one column stay free', (columns, rows) => {
  const lines = renderView(hostile, { columns, rows, nowMs }).split('\n')
  expect(lines.length).toBeLessThanOrEqual(Math.max(1, rows - 1))
  expect(lines.filter((line) => displayWidth(line) > columns - 1)).toEqual([])
  expect(lines.join('')).not.toMatch(/\p{Cc}/u)
})

test.each([
  [{ valid: 1, failed: 1, running: attempts(1), planned: 361 }, [1, 1, 1, 97]],
  [{ valid: 361, failed: 0, running: [], planned: 361 }, [100, 0, 0, 0]],
  [{ valid: 1, failed: 1, running: attempts(1), planned: 3 }, [34, 33, 33, 0]],
  [{ valid: 0, failed: 0, running: [], planned: 0 }, [0, 0, 0, 100]],
])('the bar shows whoever is there and is always as wide as the view (%#)', (counts, cells) => {
  const bar = renderView({ ...status, ...counts }, { columns: 101, rows: 24, nowMs }).split('\n')[1] ?? ''
  expect(['█', '▓', '▒', '░'].map((cell) => bar.split(cell).length - 1)).toEqual(cells)
})

test('colours change nothing but the colour, and NO_COLOR takes them away', () => {
  const view = (environment: NodeJS.ProcessEnv) => renderView(status, { columns: 80, rows: 24, nowMs, paint: paintFor(environment) })
  const plain = view({ NO_COLOR: '1' })
  expect(plain).toBe(renderView(status, { columns: 80, rows: 24, nowMs }))
  expect(view({ NO_COLOR: '' })).not.toBe(plain)
  expect(view({}).split('\u001B').map((part, index) => (index === 0 ? part : part.replace(/^\[\d+m/, ''))).join('')).toBe(plain)
})
