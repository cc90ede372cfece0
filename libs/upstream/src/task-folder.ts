import { readFile, readdir, stat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { DocumentError, parseJsonDocument, suiteSchema, type TaskKey, taskKeySchema, upstreamManifestSchema } from '@osworld-e2b/contracts'
import { z } from 'zod'
import { UpstreamError } from './upstream-error.ts'

/** A folder of tasks: OSWorld's own layout, or a suite of ours. */
export interface TaskFolder {
  readonly kind: 'osworld' | 'suite'
  /** The suite's name, or that of OSWorld's manifest; absent when the folder was listed. */
  readonly name?: string
  /** Holds `suite.json` or OSWorld's manifest. */
  readonly folder: string
  /** In the order of the suite or manifest, else by name. */
  readonly keys: readonly TaskKey[]
  readonly fileOf: (key: TaskKey) => string
}

const manifestName = 'test_all'

/** A manifest's names become paths, so they must be plain names. */
const manifestKeysSchema = upstreamManifestSchema
  .transform((domains) => Object.entries(domains).flatMap(([domain, ids]) => ids.map((id) => ({ domain, id }))))
  .pipe(z.array(taskKeySchema))

/** Recognizes the layout of `tasksDir` and lists its tasks without reading them. */
export async function openTaskFolder(tasksDir: string): Promise<TaskFolder> {
  const suiteFolder = basename(tasksDir) === 'suite.json' ? dirname(tasksDir) : tasksDir
  const suite = await readDocument(suiteSchema, join(suiteFolder, 'suite.json'))
  if (suite !== undefined) return { kind: 'suite', name: suite.name, folder: suiteFolder, keys: suite.tasks, fileOf: filesBelow(join(suiteFolder, 'tasks')) }
  const folder = (await isFolder(join(tasksDir, 'evaluation_examples'))) ? join(tasksDir, 'evaluation_examples') : tasksDir
  const examples = (await isFolder(join(folder, 'examples'))) ? join(folder, 'examples') : folder
  const manifest = await readDocument(manifestKeysSchema, join(folder, `${manifestName}.json`))
  const keys = manifest ?? (await listTasks(examples))
  if (keys.length === 0) throw noTasks(tasksDir)
  return { kind: 'osworld', ...(manifest === undefined ? {} : { name: manifestName }), folder, keys, fileOf: filesBelow(examples) }
}

function filesBelow(folder: string): (key: TaskKey) => string {
  return ({ domain, id }) => join(folder, domain, `${id}.json`)
}

async function listTasks(examples: string): Promise<TaskKey[]> {
  const keys: TaskKey[] = []
  for (const domain of await namesIn(examples)) {
    for (const file of await namesIn(join(examples, domain))) {
      const key = taskKeySchema.safeParse({ domain, id: file.replace(/\.json$/, '') })
      if (file.endsWith('.json') && key.success) keys.push(key.data)
    }
  }
  return keys
}

/** Names in order; none when it is no folder. */
async function namesIn(folder: string): Promise<string[]> {
  return (await isFolder(folder)) ? (await readdir(folder)).sort() : []
}

async function readDocument<Schema extends z.ZodType>(schema: Schema, path: string): Promise<z.output<Schema> | undefined> {
  try {
    return parseJsonDocument(schema, path, await readFile(path, 'utf8'))
  } catch (error) {
    if (isMissing(error)) return undefined
    if (error instanceof DocumentError) throw new UpstreamError('task_malformed', `${error.message} Correct the file or name another folder of tasks.`, error)
    if (error instanceof Error && 'code' in error) throw new UpstreamError('tasks_not_found', `${path} cannot be read (${error.message}): mend that, or name another folder of tasks.`, error)
    throw error
  }
}

async function isFolder(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isDirectory()
  } catch (error) {
    if (isMissing(error)) return false
    throw error
  }
}

export function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ENOTDIR')
}

function noTasks(tasksDir: string): UpstreamError {
  return new UpstreamError(
    'tasks_not_found',
    `${tasksDir} holds no tasks: it needs suite.json, or <domain>/<id>.json files directly, in examples/ or in evaluation_examples/examples/; check the path.`,
  )
}
