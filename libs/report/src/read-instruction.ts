import { join } from 'node:path'
import { osworldTaskSchema } from '@osworld-e2b/contracts'
import { sha256Hex } from '@osworld-e2b/inventory'
import { z } from 'zod'
import { plainFileSize, readIfThere } from './files.ts'

const attemptSchema = z.looseObject({ task_file: z.string() })

/** Far above any task; a report reads no file that only claims to be one. */
const longestTaskBytes = 4_194_304

/**
 * What the agent was asked: an attempt records where its task file lay. The words are shown only when that file still has
 * the digest of the contract, so they are missing on another machine and are never those of another task.
 */
export async function readInstruction(attemptFolder: string, taskSha256: string): Promise<string | undefined> {
  const attempt = parsed(attemptSchema, await readIfThere(join(attemptFolder, 'attempt.json')))
  if (attempt === undefined) return undefined
  const size = await plainFileSize(attempt.task_file)
  if (size === undefined || size > longestTaskBytes) return undefined
  const bytes = await readIfThere(attempt.task_file)
  if (bytes === undefined || sha256Hex(bytes) !== taskSha256) return undefined
  return parsed(osworldTaskSchema, bytes)?.instruction
}

/** The score does not depend on these files, so one that is broken only means that there are no words. */
function parsed<Schema extends z.ZodType>(schema: Schema, bytes: Buffer | undefined): z.output<Schema> | undefined {
  if (bytes === undefined) return undefined
  try {
    return schema.safeParse(JSON.parse(bytes.toString('utf8'))).data
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}
