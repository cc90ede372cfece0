import { expect, test } from 'vitest'
import { doctorReportSchema } from '@osworld-e2b/contracts'
import { serverLine } from './made-checks.ts'
import { doctorReportLines } from './report-lines.ts'
import { dataFolderRoom, machineCheck, roomLine } from './room-checks.ts'
import { staleLine } from './stale-check.ts'
import { inotifyLine, nodeCheck, sandboxLines } from './system-checks.ts'

const gib = 2 ** 30

test.each([
  ['20.18.3', 'missing'],
  ['20.19.0', 'ok'],
  ['21.7.0', 'missing'],
  ['22.11.0', 'missing'],
  ['22.12.0', 'ok'],
  ['23.9.0', 'missing'],
  ['24.0.0', 'ok'],
])('Node %s is %s', (version, status) => expect(nodeCheck(version).status).toBe(status))

test('memory that holds no desktop is missing, and more says how many environments it carries', () => {
  expect(machineCheck({ cores: 4, availableBytes: 0.9 * gib })).toMatchObject({ status: 'missing', remedy: expect.stringContaining('1 GiB') as string })
  expect(machineCheck({ cores: 4, availableBytes: 6 * gib })).toMatchObject({ status: 'ok', found: '4 cores, 6 GiB free: 3 environments at a time at full speed' })
})

test('a template that is still to be built needs more room than a built one', () => {
  const unbuilt = dataFolderRoom('/data', { isTemplateBuilt: false, count: 2 })
  const built = dataFolderRoom('/data', { isTemplateBuilt: true, count: 2 })
  expect(roomLine(unbuilt, 2 * gib)).toMatchObject({ status: 'missing', found: '2 GiB free at /data, 4.5 GiB needed' })
  expect(roomLine(built, 2 * gib).status).toBe('ok')
})

test('few inotify instances are a warning only where the machine carries more desktops', () => {
  expect(inotifyLine(128, { cores: 5, availableBytes: 64 * gib }).status).toBe('ok')
  expect(inotifyLine(128, { cores: 6, availableBytes: 64 * gib })).toMatchObject({ status: 'warning', remedy: expect.stringContaining('sysctl') as string })
})

test('findings of the machine become lines, and one line says that sandboxes work', () => {
  const finding = { need: 'n', found: 'f', remedy: 'r' }
  expect(sandboxLines([])).toMatchObject([{ status: 'ok' }])
  expect(sandboxLines([{ ...finding, required: false }])).toMatchObject([{ status: 'ok' }, { status: 'warning', need: 'n' }])
  expect(sandboxLines([{ ...finding, required: true }])).toEqual([{ status: 'missing', required: true, ...finding }])
})

test('a server that holds the data folder and does not answer is a warning that names it', () => {
  expect(serverLine({ kind: 'nobody' }, '/data').status).toBe('ok')
  expect(serverLine({ kind: 'answers', pid: 7, url: 'http://127.0.0.1:1', apiKey: 'secret' }, '/data')).toMatchObject({ status: 'ok', found: expect.not.stringContaining('secret') as string })
  expect(serverLine({ kind: 'silent', pid: 7 }, '/data')).toMatchObject({ status: 'warning', found: expect.stringContaining('process 7') as string })
})

test('stale things are counted, with at least the size that is known', () => {
  expect(staleLine([]).status).toBe('ok')
  expect(staleLine([1 << 20, null])).toMatchObject({ status: 'warning', found: '2 things, at least 1 MiB' })
})

test('a report is one line a need with its remedy below, and ends with the verdict', () => {
  const report = doctorReportSchema.parse({
    schema_version: 1,
    ready: false,
    checks: [
      { status: 'ok', need: 'Node', found: '20.20.2', required: true },
      { status: 'missing', need: 'template', found: 'not built', required: true, remedy: 'build it' },
      { status: 'warning', need: 'a need that is said with more words than fit', found: 'little', required: false, remedy: 'more' },
    ],
  })
  expect(doctorReportLines(report)).toEqual([
    'ok       Node                                20.20.2',
    'missing  template                            not built',
    '                                             -> build it',
    'warning  a need that is said with more words than fit',
    '                                             little',
    '                                             -> more',
    'Not ready: 1 of 3 needs is missing. 1 warning.',
  ])
})
