import { z } from 'zod'
import { ScriptedEndpointError } from './scripted-endpoint-error.ts'

const usageSchema = z.strictObject({ input_tokens: z.int().min(0), output_tokens: z.int().min(0) })
export type Usage = z.infer<typeof usageSchema>

/** What the model says, word for word. */
const textStepSchema = z.strictObject({ text: z.string(), usage: usageSchema.optional() })

/** A call of the `computer_use` tool, written as the Qwen3-VL models write it: as text. */
const actionStepSchema = z.strictObject({ action: z.string().min(1), arguments: z.record(z.string(), z.unknown()).default({}), usage: usageSchema.optional() })

const timesShape = { times: z.int().min(1).default(1) }
const faultStepSchema = z.discriminatedUnion('fault', [
  /** An error answer. */
  z.strictObject({ fault: z.literal('status'), status: z.int().min(400).max(599), retry_after: z.union([z.int().min(0), z.string()]).optional(), message: z.string().default('A fault of the script.'), ...timesShape }),
  /** No answer until the client gives up. */
  z.strictObject({ fault: z.literal('hang'), ...timesShape }),
  /** The connection is reset before any answer. */
  z.strictObject({ fault: z.literal('reset'), ...timesShape }),
  /** An answer that ends in its middle; with streaming after some of its events. */
  z.strictObject({ fault: z.literal('broken_stream'), ...timesShape }),
])
export type AnswerStep = z.infer<typeof textStepSchema> | z.infer<typeof actionStepSchema>
export type FaultStep = z.infer<typeof faultStepSchema>
export type Step = AnswerStep | FaultStep

const stepKinds = { text: textStepSchema, action: actionStepSchema, fault: faultStepSchema } as const

/** Chosen by its key first, so that a mistake is told of the kind that was meant. */
const stepSchema = z.record(z.string(), z.unknown()).transform((value, context): Step => {
  const [kind, ...more] = (['text', 'action', 'fault'] as const).filter((name) => name in value)
  if (kind === undefined || more.length > 0) {
    context.addIssue({ code: 'custom', message: 'must hold exactly one of text, action and fault' })
    return z.NEVER
  }
  const parsed = stepKinds[kind].safeParse(value)
  if (parsed.success) return parsed.data
  for (const issue of parsed.error.issues) context.addIssue({ code: 'custom', path: [...issue.path], message: issue.message })
  return z.NEVER
})

const doneStep: AnswerStep = { action: 'terminate', arguments: { status: 'success' } }

const answerStepSchema = stepSchema.transform((step, context): AnswerStep => {
  if (!('fault' in step)) return step
  context.addIssue({ code: 'custom', message: 'must be a text or an action' })
  return z.NEVER
})

/** A script file: what the endpoint answers, task by task. */
export const scriptSchema = z.strictObject({
  schema_version: z.literal(1),
  /** Listed by `GET /v1/models`. */
  models: z.array(z.string().min(1)).min(1).default(['scripted']),
  /** A request is about the first task whose `match` is in one of its texts. */
  tasks: z.array(z.strictObject({ match: z.string().min(1), steps: z.array(stepSchema) })),
  /** Steps of everything that is about none of the tasks. */
  otherwise: z.array(stepSchema).default([]),
  /** Said when the steps of a task are used up, however often it is asked about. */
  finally: answerStepSchema.default(doneStep),
})
export type Script = z.output<typeof scriptSchema>
/** As a file writes it. */
export type ScriptInput = z.input<typeof scriptSchema>

/** Checks a script; `name` is what the refusal calls it. Throws `script_invalid`. */
export function parseScript(value: unknown, name: string): Script {
  const parsed = scriptSchema.safeParse(value)
  if (parsed.success) return parsed.data
  const mistakes = parsed.error.issues.map(({ path, message }) => (path.length === 0 ? message : `${path.join('.')}: ${message}`))
  throw new ScriptedEndpointError('script_invalid', `${name} is no script (${mistakes.join('; ')}); correct it and start again.`)
}

/** Checks the text of a script file. Throws `script_invalid`. */
export function parseScriptText(text: string, name: string): Script {
  try {
    return parseScript(JSON.parse(text), name)
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    throw new ScriptedEndpointError('script_invalid', `${name} is no script (it is not JSON: ${error.message}); correct it and start again.`, { cause: error })
  }
}
