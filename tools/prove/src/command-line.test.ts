import { expect, test } from 'vitest'
import { listOf, readCommandLine } from './command-line.ts'
import { osworldTasks } from './osworld-tasks.ts'
import { starterTen } from './starter.ts'

const context = { proofs: [starterTen, osworldTasks], checkout: '/checkout', now: new Date('2026-03-04T05:06:07Z') }

test('a name alone runs this checkout and records into its proofs', () => {
  expect(readCommandLine(['starter-ten'], context)).toEqual({
    proof: starterTen,
    cli: '/checkout/apps/cli/dist/main.js',
    ownProgram: true,
    records: '/checkout/validation/proofs',
    results: '/checkout/results/proofs/20260304050607-starter-ten',
  })
})

test('without a name the proofs are listed, one line each', () => {
  expect(readCommandLine([], context).proof).toBeUndefined()
  expect(listOf(context.proofs).match(/^(starter-ten|osworld-tasks) {2,}\S.*\n/gm)).toHaveLength(2)
})

test.each([
  [['starter-tne'], 'There is no proof starter-tne; there are starter-ten, osworld-tasks.'],
  [['starter-ten', 'osworld-tasks'], 'One proof at a time: starter-ten or osworld-tasks.'],
  [['starter-ten', '--cli', 'x'], '--cli needs --records: validation/proofs holds only proofs of this checkout.'],
  [['starter-ten', '--fast'], "Unknown option '--fast'; use: npm run prove [name] [-- --cli FILE --records FOLDER --results FOLDER]."],
])('%j is refused in one sentence', (args, sentence) => {
  expect(() => readCommandLine(args, context)).toThrow(expect.objectContaining({ code: 'usage', message: sentence }))
})
