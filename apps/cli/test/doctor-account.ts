import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { type DoctorReport, doctorReportSchema, parseJsonDocument, suiteInventorySchema } from '@osworld-e2b/contracts'
import { attachLocalE2b } from '@osworld-e2b/local-e2b'
import { expect } from 'vitest'
import { doctor } from '../src/commands/doctor.ts'
import type { DoctorArguments } from '../src/doctor/arguments.ts'
import { workspace } from '../src/workspace.ts'
import type { StalePlace } from './stale-place.ts'

export const buildId = '00000000-0000-0000-0000-00000000000a'

export interface Account {
  /** The variables that lead to it, with the right key. */
  readonly variables: Readonly<Record<string, string>>
  close(): Promise<void>
}

/** A real server as an account with the template `desk`; nothing is built, since nobody makes a sandbox of it. */
export async function startAccount(): Promise<Account> {
  const folder = await mkdtemp(join(tmpdir(), 'doctor-account-'))
  try {
    const dataFolder = join(folder, 'data')
    await mkdir(dataFolder)
    const never = '2026-01-01T00:00:00.000Z'
    const image = { key: 'k', layers: ['layers/none'], user: 'root', workdir: '/', environment: {}, start_command: null }
    const build = { build_id: buildId, status: 'ready', created_at: never, finished_at: never, cpu_count: 1, memory_mb: 512, tags: [], image, reason: null }
    const templates = [{ template_id: 'tabcdefghijklmnopqrs', name: 'desk', created_at: never, updated_at: never, tags: {}, builds: { [buildId]: build } }]
    await writeFile(join(dataFolder, 'templates.json'), JSON.stringify({ schema_version: 1, templates }))
    const server = await attachLocalE2b({
      dataFolder,
      serverCommand: [process.execPath, workspace.localServerMain, 'serve', '--data', dataFolder, '--die-with-parent'],
      environment: { PATH: process.env['PATH'] ?? '', HOME: folder },
    })
    const { api_key: key, api_url: url = '' } = server.connection
    const close = async () => {
      await server.close()
      await rm(folder, { recursive: true, force: true })
    }
    return { variables: { E2B_API_KEY: key, E2B_API_URL: url, E2B_SANDBOX_URL: url }, close }
  } catch (error) {
    await rm(folder, { recursive: true, force: true })
    throw error
  }
}

export interface ContractChange {
  readonly route?: string
  /** Endpoints of the model, besides the usual one; null for none. */
  readonly endpoints?: readonly object[] | null
  readonly scoring?: object
}

/** A contract of the starter suite with a model, in the place; as changed. */
export async function writeContract({ root }: StalePlace, { route = 'e2b-compatible', endpoints, scoring }: ContractChange = {}): Promise<string> {
  const file = join(root, 'contract.json')
  const agent = { kind: 'module', class: 'agents.mine:Agent', model: 'mine', settings: {} }
  const listed = endpoints === null ? {} : { endpoints: endpoints ?? [{ label: 'MODEL_BASE_URL', api_key_variable: 'MODEL_API_KEY' }] }
  const operation = { route: { kind: route, final: false }, num_envs: 2, attempt_timeout_seconds: 60, model_call_attempts: 1, budget: { model_requests: 1_000 }, ...listed }
  const { task_count, inventory_sha256 } = parseJsonDocument(suiteInventorySchema, 'inventory.json', await readFile(join(workspace.suites, 'starter', 'inventory.json'), 'utf8'))
  const usual = { profile: 'package-1.0.2', suite: 'starter', task_count, inventory_sha256, agent, max_steps: 5, template: `desk:${buildId}`, enable_proxy: false }
  await writeFile(file, JSON.stringify({ schema_version: 2, scoring: { ...usual, ...scoring }, operation }))
  return file
}

const secretVariables = ['E2B_API_KEY', 'MODEL_API_KEY', 'MODEL_BASE_URL']
export const proxyLogin = { username: 'user-of-the-proxy', password: 'word-of-the-proxy' }

export interface Examined {
  readonly text: string
  readonly code: number
}

/** What doctor prints, which never holds the value of a variable or a login. */
export async function examine(place: StalePlace, given: DoctorArguments, environment: NodeJS.ProcessEnv): Promise<Examined> {
  const stdout = new PassThrough()
  const code = await doctor({ json: true, results: place.results, ...given }, { environment, stdout })
  const text = String(stdout.read())
  const secrets = [...secretVariables.map((name) => environment[name] ?? ''), ...Object.values(proxyLogin)].filter((value) => value !== '')
  expect(secrets.filter((value) => text.includes(value))).toEqual([])
  return { text, code }
}

export function reportOf({ text }: Examined): DoctorReport {
  return parseJsonDocument(doctorReportSchema, 'the report', text)
}

export function check(examined: Examined, need: string): DoctorReport['checks'][number] | undefined {
  return reportOf(examined).checks.find((one) => one.need === need)
}
