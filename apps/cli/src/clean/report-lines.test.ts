import { cleanReportSchema } from '@osworld-e2b/contracts'
import { expect, test } from 'vitest'
import { bytesText } from './bytes-text.ts'
import { cleanReportLines } from './report-lines.ts'

test.each([
  [0, '0 B'],
  [999, '999 B'],
  [1000, '1 KiB'],
  [4096, '4 KiB'],
  [1_500_000, '1.4 MiB'],
  [327_155_712, '312 MiB'],
  [3 * 2 ** 30, '3 GiB'],
])('%i bytes are %s', (bytes, text) => expect(bytesText(bytes)).toBe(text))

const item = { kind: 'template', name: 'old', bytes: 4096, reason: 'not what the present recipe makes' }
const report = { schema_version: 1, dry_run: false, removed: [item], kept: [], failed: [], removed_bytes: 4096 }

test('says of each thing what became of it, why, and how big it is; a dry run says that nothing was changed', () => {
  const kept = { kind: 'base', name: '/data/bases/b', bytes: null, reason: 'in use' }
  expect(cleanReportLines(cleanReportSchema.parse({ ...report, kept: [kept], failed: [{ ...item, problem: 'it is busy' }] }))).toEqual([
    'removed         4 KiB  template old: not what the present recipe makes',
    'failed          4 KiB  template old: not what the present recipe makes, but: it is busy',
    'kept                ?  base system /data/bases/b: in use',
    'total: freed 4 KiB in 1 thing; 1 could not be removed; 1 kept',
  ])
  expect(cleanReportLines(cleanReportSchema.parse({ ...report, dry_run: true })).at(-1)).toBe('total: would free 4 KiB in 1 thing; nothing was changed')
  expect(cleanReportLines(cleanReportSchema.parse({ ...report, removed: [], removed_bytes: 0 }))).toEqual(['total: nothing removed'])
})
