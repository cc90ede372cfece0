import { availableParallelism, release, tmpdir } from 'node:os'
import { type DoctorCheck, type DoctorReport, doctorReportSchema, parseDocument } from '@osworld-e2b/contracts'
import { type Places, placesOf } from '../clean/arguments.ts'
import type { DoctorArguments } from '../doctor/arguments.ts'
import { environmentLine, factsOrReason, isEnvironmentMade, isTemplateBuilt, pythonLine, pythonOrReason, serverCheck, templateLine } from '../doctor/made-checks.ts'
import { doctorReportLines } from '../doctor/report-lines.ts'
import { dataFolderRoom, machineCheck, pythonRoom, resultsRoom, roomCheck } from '../doctor/room-checks.ts'
import { staleCheck } from '../doctor/stale-check.ts'
import { confinementCheck, inotifyCheck, loopbackCheck, nodeCheck, sandboxChecks, type System, systemCheck } from '../doctor/system-checks.ts'
import { exitCode, type ExitCode } from '../exit-code.ts'
import { capacity, type Machine } from '../run/capacity.ts'
import type { Console } from './run.ts'

/** `osworld doctor`: says of every need of a run on local sandboxes whether it is there; changes nothing and starts no server. */
export async function doctor(given: DoctorArguments, { environment, stdout }: Pick<Console, 'environment' | 'stdout'>): Promise<ExitCode> {
  const { data, results } = given
  const places = placesOf({ ...(data === undefined ? {} : { data }), ...(results === undefined ? {} : { results: [results] }) }, environment)
  const report = reportOf(await allChecks(places, environment))
  stdout.write(given.json === true ? `${JSON.stringify(report)}\n` : `${doctorReportLines(report).join('\n')}\n`)
  return report.ready ? exitCode.complete : exitCode.incomplete
}

export function reportOf(checks: readonly DoctorCheck[]): DoctorReport {
  const ready = checks.every(({ status }) => status !== 'missing')
  return parseDocument(doctorReportSchema, 'the report', { schema_version: 1, checks, ready })
}

/** All looks at once, in the order in which a person would mend what they find. */
async function allChecks(places: Places, environment: NodeJS.ProcessEnv): Promise<readonly DoctorCheck[]> {
  const machine: Machine = { cores: availableParallelism(), availableBytes: process.availableMemory() }
  const system: System = { platform: process.platform, architecture: process.arch, kernelRelease: release(), temporaryFolder: environment['TMPDIR'] ?? tmpdir(), environment }
  const [sandboxes, confinement, loopback, inotify, made, server] = await Promise.all([
    sandboxChecks(system),
    confinementCheck(environment),
    loopbackCheck(),
    inotifyCheck(machine),
    madeChecks(places, environment, capacity(machine)),
    serverCheck(places.dataFolder),
  ])
  // The machine's own findings speak of small limits already.
  const limits = inotify === undefined || sandboxes.some(({ status }) => status === 'warning') ? [] : [inotify]
  return [nodeCheck(process.versions.node), systemCheck(system), ...sandboxes, confinement, loopback, machineCheck(machine), ...limits, ...made, server]
}

/** What is built once, the room for it, and what of it is stale. */
async function madeChecks(places: Places, environment: NodeJS.ProcessEnv, count: number): Promise<readonly DoctorCheck[]> {
  const python = await pythonOrReason(environment)
  const facts = await factsOrReason(places, environment, typeof python === 'string' ? undefined : python)
  const rooms = [
    dataFolderRoom(places.dataFolder, { isTemplateBuilt: isTemplateBuilt(facts), count }),
    pythonRoom(places.cacheFolder, isEnvironmentMade(facts)),
    ...places.results.map(resultsRoom),
  ]
  const [room, stale] = await Promise.all([Promise.all(rooms.map(roomCheck)), typeof facts === 'string' ? [] : staleCheck(facts, environment)])
  return [...room, pythonLine(python, isEnvironmentMade(facts)), environmentLine(facts), templateLine(facts)].concat(stale)
}
