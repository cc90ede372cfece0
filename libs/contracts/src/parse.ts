import type { z } from 'zod'

/** A document or message that does not have the shape its schema asks for. */
export class DocumentError extends Error {
  readonly what: string
  readonly issues: readonly string[]

  constructor(what: string, issues: readonly string[]) {
    super(`${what} is not valid: ${issues.join('; ')}.`)
    this.name = 'DocumentError'
    this.what = what
    this.issues = issues
  }
}

/** Parses `value` by `schema`; `what` names the document in the refusal, such as its file name. */
export function parseDocument<Schema extends z.ZodType>(schema: Schema, what: string, value: unknown): z.output<Schema> {
  const parsed = schema.safeParse(value)
  if (parsed.success) return parsed.data
  throw new DocumentError(what, parsed.error.issues.map(describeIssue))
}

/** Parses JSON text by `schema`; text that is not JSON is refused in the same way. */
export function parseJsonDocument<Schema extends z.ZodType>(schema: Schema, what: string, text: string): z.output<Schema> {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    throw new DocumentError(what, [`it is not JSON (${error instanceof Error ? error.message : String(error)})`])
  }
  return parseDocument(schema, what, value)
}

function describeIssue(issue: z.core.$ZodIssue): string {
  const where = issue.path.length === 0 ? 'the document' : issue.path.map(String).join('.')
  return `${where}: ${issue.message}`
}
