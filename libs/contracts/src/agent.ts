import { z } from 'zod'
import { relativePathSchema, sha256Schema } from './primitives.ts'

/** Hashed, so a fraction is written as text: `"0.9"`. */
const settingValueSchema = z.union([z.string(), z.int(), z.boolean()])

/** What an agent is told besides its model: argument names with underscores, without their dashes. */
export const agentSettingsSchema = z.record(z.string().regex(/^[a-z][a-z0-9_]*$/, 'must be lower-case letters, digits and underscores'), settingValueSchema)
export type AgentSettings = z.infer<typeof agentSettingsSchema>

/** Where a model's weights come from, when they are public. */
const modelSourceShape = {
  model: z.string().min(1),
  model_repository: z.string().min(1).optional(),
  model_commit: z.string().regex(/^[0-9a-f]{40}$/, 'must be 40 lower-case hexadecimal digits').optional(),
}

const noAgentSchema = z.strictObject({ kind: z.literal('none') })

/** OSWorld's own runner script with the agent it brings, as one child an attempt. */
const upstreamRunnerSchema = z.strictObject({
  kind: z.literal('upstream_runner'),
  /** Path of the script in OSWorld's tree. */
  runner: relativePathSchema,
  ...modelSourceShape,
  settings: agentSettingsSchema,
})

/** One of the agents that OSWorld's package brings, by its name here, in our own loop. */
const upstreamAgentSchema = z.strictObject({
  kind: z.literal('upstream'),
  /** Such as `qwen3vl`. */
  name: z.string().regex(/^[a-z][a-z0-9_-]*$/, 'must be lower-case letters, digits, dashes and underscores'),
  ...modelSourceShape,
  settings: agentSettingsSchema,
})

/** An agent outside of the attempt, asked over HTTP; what it is, is what its author says. */
const httpAgentSchema = z.strictObject({
  kind: z.literal('http'),
  name: z.string().min(1),
  version: z.string().min(1).optional(),
  model: z.string().min(1).optional(),
  settings: agentSettingsSchema,
})

/** A class with OSWorld's agent interface, in our own loop. */
const moduleAgentSchema = z.strictObject({
  kind: z.literal('module'),
  /** Tree digest of its Python files; absent for a class of the package itself. */
  source_sha256: sha256Schema.optional(),
  class: z.string().regex(/^[A-Za-z_][\w.]*:[A-Za-z_]\w*$/, 'must be module:Class'),
  ...modelSourceShape,
  settings: agentSettingsSchema,
})

/** Who acts, as a run records it. */
export const agentSchema = z.discriminatedUnion('kind', [
  noAgentSchema,
  z.strictObject({
    kind: z.literal('scripted'),
    /** Name of the script set and the digest of its files. */
    scripts: z.string().min(1),
    scripts_sha256: sha256Schema,
  }),
  upstreamRunnerSchema,
  upstreamAgentSchema,
  moduleAgentSchema,
  httpAgentSchema,
])
export type Agent = z.infer<typeof agentSchema>

/** Who acts, as a user writes it: the digest of scripts follows from the files. */
export const agentFileSchema = z.discriminatedUnion('kind', [
  noAgentSchema,
  z.strictObject({ kind: z.literal('scripted'), scripts: z.string().min(1), scripts_sha256: sha256Schema.optional() }),
  upstreamRunnerSchema,
  upstreamAgentSchema,
  moduleAgentSchema,
  httpAgentSchema,
])
