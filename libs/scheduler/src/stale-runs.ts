import { lstat, readdir, readFile } from 'node:fs/promises'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { aggregateSchema, contractSchema, DocumentError, parseJsonDocument, runDocumentSchema, runLockSchema } from '@osworld-e2b/contracts'
import { isProcessAlive } from './process-identity.ts'

/** What a run folder tells about who needs what; a file that is absent or cannot be read tells nothing. */
export interface RunTrace {
  readonly folder: string
  /** Name of the folder. */
  readonly runId: string
  readonly runUid: string | undefined
  /** `name:build_id` that a resume needs. */
  readonly template: string | undefined
  readonly isComplete: boolean
  /** `held` also when the owner is on another host or the lock cannot be read. */
  readonly lock: { readonly kind: 'free' } | { readonly kind: 'held'; readonly pid: number | undefined }
}

/** Looks at every run in a results folder without changing anything. */
export async function readRunTraces(runsFolder: string): Promise<readonly RunTrace[]> {
  const names = await readdir(runsFolder).catch(noneIfAbsent<readonly string[]>([]))
  const traces = await Promise.all(names.map((name) => traceOf(join(runsFolder, name), name)))
  return traces.filter((trace) => trace !== undefined)
}

async function traceOf(folder: string, runId: string): Promise<RunTrace | undefined> {
  if (!(await lstat(folder)).isDirectory()) return undefined
  const text = (file: string) => readFile(join(folder, file), 'utf8').catch(noneIfAbsent(undefined))
  const [document, contract, aggregate, lock] = await Promise.all(['run.json', 'contract.json', 'aggregate.json', 'run.lock'].map(text))
  return {
    folder,
    runId,
    runUid: readable(() => document && parseJsonDocument(runDocumentSchema, 'run.json', document).run_uid),
    template: readable(() => contract && parseJsonDocument(contractSchema, 'contract.json', contract).scoring.template),
    isComplete: readable(() => aggregate && parseJsonDocument(aggregateSchema, 'aggregate.json', aggregate).complete) === true,
    lock: lock === undefined ? { kind: 'free' } : await lockState(lock),
  }
}

async function lockState(text: string): Promise<RunTrace['lock']> {
  const lock = readable(() => parseJsonDocument(runLockSchema, 'run.lock', text))
  const isGone = lock?.host === hostname() && !(await isProcessAlive({ pid: lock.pid, start: lock.pid_start }))
  return isGone ? { kind: 'free' } : { kind: 'held', pid: lock?.pid }
}

/** What another version wrote is not ours to judge. */
function readable<Value>(parse: () => Value): Value | undefined {
  try {
    return parse()
  } catch (error) {
    if (error instanceof DocumentError) return undefined
    throw error
  }
}

function noneIfAbsent<Value>(value: Value): (error: unknown) => Value {
  return (error) => {
    if (error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ENOTDIR')) return value
    throw error
  }
}
