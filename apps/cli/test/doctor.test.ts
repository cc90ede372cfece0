import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { type DoctorReport, doctorReportSchema, parseJsonDocument } from '@osworld-e2b/contracts'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { doctor } from '../src/commands/doctor.ts'
import { digestFolder, makeStalePlace, type StalePlace } from './stale-place.ts'

let place: StalePlace
beforeEach(async () => {
  place = await makeStalePlace()
})
afterEach(() => place.remove())

async function examine(environment: NodeJS.ProcessEnv = place.environment): Promise<{ readonly report: DoctorReport; readonly code: number }> {
  const stdout = new PassThrough()
  const code = await doctor({ json: true, results: place.results }, { environment, stdout })
  return { report: parseJsonDocument(doctorReportSchema, 'the report', String(stdout.read())), code }
}

function check({ checks }: DoctorReport, need: RegExp): DoctorReport['checks'][number] | undefined {
  return checks.find((one) => need.test(one.need))
}

test('reads from the data folder that the template is built, counts what is stale, and changes nothing of it', async () => {
  const before = await digestFolder(join(place.root, 'cache'))
  const { report, code } = await examine()
  expect(check(report, /desktop template/)).toMatchObject({ status: 'ok' })
  expect(check(report, /local server/)).toMatchObject({ status: 'ok', found: expect.stringContaining('none runs') as string })
  expect(check(report, /stale/)).toMatchObject({ status: 'warning', found: expect.stringMatching(/^8 things/) as string })
  expect(code).toBe(report.ready ? 0 : 1)
  expect(await digestFolder(join(place.root, 'cache'))).toBe(before)
})

test('a template that is not built is missing, with the command that builds it and exit code 1', async () => {
  await writeFile(join(place.dataFolder, 'templates.json'), '{"schema_version": 1, "templates": []}')
  const { report, code } = await examine()
  expect(check(report, /desktop template/)).toMatchObject({ status: 'missing', remedy: expect.stringContaining('template-builder:build') as string })
  expect(report.ready).toBe(false)
  expect(code).toBe(1)
})

test('a data folder that cannot be read leaves its needs unknown and the others judged', async () => {
  await writeFile(join(place.dataFolder, 'templates.json'), '{')
  await writeFile(join(place.dataFolder, 'server.json'), '{')
  const { report } = await examine()
  expect(check(report, /desktop template/)).toMatchObject({ status: 'warning', found: 'unknown', remedy: expect.stringContaining('.json') as string })
  expect(check(report, /local server/)).toMatchObject({ status: 'warning', found: 'unknown' })
  expect(check(report, /^Node$/)).toMatchObject({ status: 'ok' })
})

test('without any program on the path, Python and bubblewrap are missing with their remedies', async () => {
  const { report, code } = await examine({ ...place.environment, PATH: place.precious })
  expect(check(report, /^Python 3/)).toMatchObject({ status: 'missing', remedy: expect.stringContaining('install python3.11') as string })
  expect(check(report, /bubblewrap/)).toMatchObject({ status: 'missing', remedy: expect.stringContaining('apt-get install bubblewrap') as string })
  expect(code).toBe(1)
})
