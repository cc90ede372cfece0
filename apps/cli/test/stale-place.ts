import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { lstat, mkdir, mkdtemp, readdir, readFile, readlink, realpath, rm, symlink, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { type CleanReport, cleanReportSchema, parseJsonDocument } from '@osworld-e2b/contracts'
import { sha256Hex } from '@osworld-e2b/inventory'
import { contentName, loadRecipe } from '@osworld-e2b/template'
import { clean } from '../src/commands/clean.ts'
import type { CleanArguments } from '../src/clean/arguments.ts'
import { workspace } from '../src/workspace.ts'

export const oldTemplate = 'osworld-gnome-0000000000000000'
const never = '2026-01-01T00:00:00.000Z'

/** A cache folder, a system temporary folder and a results folder of their own, with one of everything that gets stale. */
export interface StalePlace {
  readonly root: string
  readonly dataFolder: string
  readonly temporaryFolder: string
  readonly environment: NodeJS.ProcessEnv
  readonly results: string
  /** Outside of everything, and linked to from within. */
  readonly precious: string
  remove(): Promise<void>
}

export async function makeStalePlace(): Promise<StalePlace> {
  const root = await realpath(await mkdtemp(join(tmpdir(), 'stale-place-')))
  const at = (...parts: string[]) => join(root, ...parts)
  const cache = at('cache', 'osworld-e2b')
  const place: StalePlace = {
    root,
    dataFolder: join(cache, 'local-e2b'),
    temporaryFolder: at('tmp'),
    results: at('results'),
    precious: at('precious'),
    environment: { PATH: process.env.PATH, HOME: process.env.HOME, XDG_CACHE_HOME: at('cache'), TMPDIR: at('tmp') },
    remove: () => rm(root, { recursive: true, force: true }),
  }
  await fill(at('precious', 'file'), 'keep me')
  await mkdir(place.results)
  await fillDataFolder(place)
  await fill(join(cache, 'python', 'a'.repeat(64), 'complete.json'), '')
  await fill(join(cache, 'python', `${'a'.repeat(64)}.lock`), '')
  await fillTemporaryFolder(place)
  return place
}

async function fillDataFolder({ dataFolder, precious }: StalePlace): Promise<void> {
  const { recipe, files } = await loadRecipe(workspace.templateFolder, 'debian-12')
  const templates = [template(contentName(recipe, files), ['layers/aa', 'bases/cc']), template(oldTemplate, ['layers/bb', 'bases/cc']), template('mine', ['layers/dd', 'bases/cc'])]
  await fill(join(dataFolder, 'templates.json'), JSON.stringify({ schema_version: 1, templates }))
  for (const name of ['aa', 'bb', 'dd', 'ee']) {
    await fill(join(dataFolder, 'layers', name, 'file'), name)
    await fill(join(dataFolder, 'layers', `${name}.json`), JSON.stringify({ schema_version: 1, id: name, has_folder: true, user: 'root', workdir: '/', environment: {} }))
  }
  await symlink(precious, join(dataFolder, 'layers', 'bb', 'link'))
  await fill(join(dataFolder, 'bases', 'cc', 'file'), 'cc')
  await fill(join(dataFolder, 'bases', 'ff.partial', 'file'), 'ff')
  await fill(join(dataFolder, 'sandboxes', 'dead', 'owner.json'), '{"pid":1,"startTime":"999"}\n')
  await fill(join(dataFolder, 'uploads', `${'0'.repeat(64)}.x.tmp`), '')
}

function template(name: string, layers: readonly string[]) {
  const image = { key: 'k', layers, user: 'root', workdir: '/', environment: {}, start_command: null }
  const build = { build_id: 'b', status: 'ready', created_at: never, finished_at: never, cpu_count: 1, memory_mb: 1, tags: [], image, reason: null }
  return { template_id: name, name, created_at: never, updated_at: never, tags: {}, builds: { b: build } }
}

async function fillTemporaryFolder({ temporaryFolder }: StalePlace): Promise<void> {
  await fill(join(temporaryFolder, `osworld-run-${process.pid}-1`, 'control.sock'), '')
  await fill(join(temporaryFolder, 'local-e2b-bundle-abcdef', 'bundle.cjs'), '')
  await fill(join(temporaryFolder, 'local-e2b-bundle-ABCDEF', 'bundle.cjs'), '')
  await fill(join(temporaryFolder, 'somebody-elses', 'file'), '')
  const dayAgo = Date.now() / 1000 - 24 * 3600
  await utimes(join(temporaryFolder, 'local-e2b-bundle-abcdef'), dayAgo, dayAgo)
}

async function fill(path: string, text: string): Promise<void> {
  await mkdir(join(path, '..'), { recursive: true })
  await writeFile(path, text)
}

export async function cleanPlace(place: StalePlace, given: Partial<CleanArguments> = {}): Promise<{ readonly report: CleanReport; readonly code: number }> {
  const stdout = new PassThrough()
  const code = await clean({ json: true, results: [place.results], ...given }, { environment: place.environment, stdout })
  return { report: parseJsonDocument(cleanReportSchema, 'the report', String(stdout.read())), code }
}

/** Names within the place, so that tests can say them. */
export function namesOf(items: CleanReport['kept'], { root }: StalePlace): readonly string[] {
  return items.map(({ kind, name }) => `${kind} ${name.replace(`${root}/`, '').replace('cache/osworld-e2b/', '')}`).sort()
}

/** Over paths, kinds, modes, times of change and contents. */
export async function digestFolder(root: string): Promise<string> {
  const lines: string[] = []
  for (const path of (await readdir(root, { recursive: true })).sort()) {
    const stat = await lstat(join(root, path))
    const content = stat.isFile() ? await readFile(join(root, path), 'hex') : stat.isSymbolicLink() ? await readlink(join(root, path)) : ''
    lines.push(JSON.stringify([path, stat.mode, stat.mtimeMs, stat.ctimeMs, content]))
  }
  return sha256Hex(lines.join('\n'))
}

/** A real process that only lives; `startTime` is field 22 of its `/proc/<pid>/stat`. */
export async function startLivingProcess(): Promise<{ readonly pid: number; readonly startTime: string; readonly end: () => Promise<void> }> {
  const child: ChildProcess = spawn('sleep', ['1000'])
  await once(child, 'spawn')
  const pid = child.pid ?? 0
  const fields = (await readFile(`/proc/${pid}/stat`, 'utf8')).replace(/^.*\) /, '').split(' ')
  const end = async () => {
    const ended = once(child, 'exit')
    if (child.kill('SIGKILL')) await ended
  }
  return { pid, startTime: fields[19] ?? '', end }
}
