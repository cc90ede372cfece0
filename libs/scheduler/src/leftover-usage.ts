import { constants } from 'node:fs'
import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { addUsage, type RunState, usageOfCall } from '@osworld-e2b/aggregation'
import { longestAttemptSeconds, modelCallSchema, type ModelUsage, relayEventSchema } from '@osworld-e2b/contracts'
import type { z } from 'zod'
import type { AttemptReport } from './attempt-report.ts'

/** As much as an attempt's folder may hold; more is no evidence of ours. */
const mostBytes = 4 * 1024 ** 3

/**
 * What an attempt used whose coordinator ended before it, as far as its files tell: of calls under way at that moment they do not. An attempt
 * may write to them, so they hold no more than a budget against a run.
 */
export async function leftoverUsage(folder: string): Promise<Pick<AttemptReport, 'model' | 'sandboxSeconds'>> {
  const calls = await readRecords(join(folder, 'model-calls.jsonl'), modelCallSchema)
  const model = calls.reduce<ModelUsage | undefined>((sum, call) => addUsage(sum, usageOfCall(call)), undefined)
  const events = await readRecords(join(folder, 'relay-events.jsonl'), relayEventSchema)
  const since = events.find(({ event }) => event === 'SANDBOX_CREATED')
  const until = events.at(-1)
  const seconds = since === undefined || until === undefined ? undefined : (Date.parse(until.at) - Date.parse(since.at)) / 1_000 + (since.seconds ?? 0)
  return { ...(model === undefined ? {} : { model }), ...(seconds === undefined ? {} : { sandboxSeconds: Math.min(longestAttemptSeconds, Math.max(0, seconds)) }) }
}

/** Model requests of attempts that no coordinator has closed yet; the ledger's sums do not hold them. */
export async function requestsOfOpenAttempts(runFolder: string, state: RunState): Promise<number> {
  let requests = 0
  for (const { attempts } of state.values()) {
    const last = attempts.at(-1)
    if (last === undefined || last.state.phase === 'terminal') continue
    requests += (await leftoverUsage(join(runFolder, last.attemptDir))).model?.requests ?? 0
  }
  return requests
}

/** The lines that are records; a torn one is none. Nothing where no such file is: a link or a pipe in its place is the attempt's own. */
async function readRecords<Schema extends z.ZodType>(path: string, schema: Schema): Promise<z.output<Schema>[]> {
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK).catch(() => undefined)
  if (file === undefined) return []
  const records: z.output<Schema>[] = []
  try {
    const stat = await file.stat()
    if (!stat.isFile() || stat.size > mostBytes) return []
    for await (const line of file.readLines({ autoClose: false })) {
      const parsed = schema.safeParse(parseJson(line))
      if (parsed.success) records.push(parsed.data)
    }
    return records
  } finally {
    await file.close()
  }
}

function parseJson(line: string): unknown {
  try {
    return JSON.parse(line)
  } catch {
    return undefined
  }
}
