import { expect, test } from 'vitest'
import { listOf, readCommandLine } from './command-line.ts'
import { killMatrix } from './kill-matrix.ts'
import { osworldTasks } from './osworld-tasks.ts'
import { starterTen } from './starter.ts'

const context = { proofs: [starterTen, osworldTasks, killMatrix], checkout: '/checkout', now: new Date('2026-03-04T05:06:07Z') }

test('a name alone runs this checkout and records into its proofs', () => {
  expect(readCommandLine(['starter-ten'], context)).toEqual({
    proof: starterTen,
    cli: '/checkout/apps/cli/dist/main.js',
    ownProgram: true,
    records: '/checkout/validation/proofs',
    results: '/checkout/results/proofs/20260304050607-starter-ten',
    cells: [],
  })
})

test('without a name the proofs are listed, one line each', () => {
  expect(readCommandLine([], context).proof).toBeUndefined()
  expect(listOf(context.proofs).match(/^(starter-ten|osworld-tasks|kill-matrix) {2,}\S.*\n/gm)).toHaveLength(3)
})

test.each([
  [['starter-tne'], 'There is no proof starter-tne; there are starter-ten, osworld-tasks, kill-matrix.'],
  [['starter-ten', 'osworld-tasks'], 'One proof at a time: starter-ten or osworld-tasks.'],
  [['starter-ten', '--cli', 'x'], '--cli needs --records: validation/proofs holds only proofs of this checkout.'],
  [['starter-ten', '--fast'], "Unknown option '--fast'; use: npm run prove [name] [-- --cli FILE --records FOLDER --results FOLDER --cell NAME]."],
  [['starter-ten', '--cell', 'relay:setup'], 'starter-ten has no cells; leave --cell out.'],
])('%j is refused in one sentence', (args, sentence) => {
  expect(() => readCommandLine(args, context)).toThrow(expect.objectContaining({ code: 'usage', message: sentence }))
})

test('parts of a proof are chosen by their names, and a name that is none is refused with those that are', () => {
  expect(readCommandLine(['kill-matrix', '--cell', 'relay:setup', '--cell', 'coordinator:agent'], context).cells).toEqual(['relay:setup', 'coordinator:agent'])
  expect(() => readCommandLine(['kill-matrix', '--cell', 'relay:run_end'], context)).toThrow(/^kill-matrix has no cell relay:run_end; there are coordinator:planned, .*, sandbox:terminal\.$/)
})
