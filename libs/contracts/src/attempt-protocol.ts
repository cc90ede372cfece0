import { z } from 'zod'
import { agentSettingsSchema } from './agent.ts'
import { secretMountSchema } from './capabilities.ts'
import { causeSchema, phaseSchema } from './outcome.ts'
import { relativePathSchema, sha256Schema, taskKeySchema } from './primitives.ts'

/** One entry of a script: `WAIT`, `DONE`, `FAIL`, Python text for pyautogui, or a wait. */
export const scriptedActionSchema = z.union([
  z.string().min(1),
  z.strictObject({ wait_for_window: z.string().min(1), timeout_seconds: z.number().positive().max(600).default(20) }),
  z.strictObject({ wait_seconds: z.number().positive().max(600) }),
])
export type ScriptedAction = z.infer<typeof scriptedActionSchema>

/** File that holds one task's script. */
export const scriptSchema = z.strictObject({
  schema_version: z.literal(1),
  task: taskKeySchema,
  actions: z.array(scriptedActionSchema).min(1),
})
export type Script = z.infer<typeof scriptSchema>

export const attemptAgentSchema = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('none') }),
  z.strictObject({ kind: z.literal('scripted'), actions: z.array(scriptedActionSchema) }),
  z.strictObject({
    kind: z.literal('upstream_runner'),
    /** OSWorld's tree, absolute. */
    checkout: z.string().startsWith('/'),
    /** What the tree is a checkout of. */
    source: z.strictObject({ repository: z.string(), commit: z.string() }).optional(),
    /** The runner script, relative to the tree. */
    runner: relativePathSchema,
    model: z.string().min(1),
    /** Arguments of the script, name without dashes to text; `true` is a flag. */
    arguments: z.record(z.string(), z.union([z.string(), z.literal(true)])),
  }),
  z.strictObject({ kind: z.literal('upstream'), name: z.string().min(1), model: z.string().min(1), settings: agentSettingsSchema }),
  z.strictObject({
    kind: z.literal('module'),
    /** `module:Class` */
    class: z.string().min(1),
    /** Where the module is imported from; the package when absent. */
    folder: z.string().startsWith('/').optional(),
    model: z.string().min(1),
    settings: agentSettingsSchema,
  }),
  z.strictObject({ kind: z.literal('http'), url: z.url(), name: z.string().min(1), model: z.string().min(1).optional(), settings: agentSettingsSchema }),
])
export type AttemptAgent = z.infer<typeof attemptAgentSchema>

export const timingSchema = z.enum(['settled', 'upstream'])
export type Timing = z.infer<typeof timingSchema>

/** `attempt.json`: all that one attempt process is told; paths are absolute, as seen inside its confinement. */
export const attemptConfigSchema = z.strictObject({
  schema_version: z.literal(1),
  run_id: z.string().min(1),
  attempt_dir: z.string().startsWith('/'),
  task: taskKeySchema,
  task_file: z.string().startsWith('/'),
  trial: z.int().min(1),
  attempt: z.int().min(1),
  agent: attemptAgentSchema,
  max_steps: z.int().min(1),
  timing: timingSchema,
  screen: z.strictObject({ width: z.int().positive(), height: z.int().positive() }),
  client_password: z.string(),
  enable_proxy: z.boolean(),
  profile_dir: z.string().startsWith('/'),
  record: z.boolean(),
  /** OSWorld's list of proxies; needed when `enable_proxy` is on. */
  proxy_file: z.string().startsWith('/').optional(),
  /** Files of this machine that every sandbox gets, for OSWorld's own `vm_secret_mounts`. */
  secret_mounts: z.array(secretMountSchema).min(1).optional(),
  /** Folder with `google/settings.json` and `googledrive/`, in the place of OSWorld's `evaluation_examples/settings`. */
  settings_dir: z.string().startsWith('/').optional(),
  /** Recorded downloads: `index.json` and the files by digest; `offline` refuses what is not among them. */
  assets: z.strictObject({ folder: z.string().startsWith('/'), offline: z.boolean() }).optional(),
})
export type AttemptConfig = z.infer<typeof attemptConfigSchema>

const portSchema = z.int().min(1).max(65535)

/** Loopback ports of one environment, by what answers behind them in the guest (5000, 9222, 6080, 8080). */
export const guestPortsSchema = z.strictObject({ server: portSchema, cdp: portSchema, vnc: portSchema, vlc: portSchema })
export type GuestPorts = z.infer<typeof guestPortsSchema>

const requestIdSchema = z.int().min(0)

const finishedSchema = z.discriminatedUnion('outcome', [
  z.strictObject({
    type: z.literal('finished'),
    outcome: z.literal('valid'),
    reward: z.number().min(0).max(1),
    evaluator: z.record(z.string(), z.unknown()),
    loaded_packages: z.array(z.string()),
    adjustments_digest: sha256Schema,
    upstream: z.strictObject({ name: z.string(), version: z.string() }),
  }),
  z.strictObject({ type: z.literal('finished'), outcome: z.literal('invalid'), ...causeSchema.shape }),
])

/** Lines that an attempt writes to its control socket. */
export const attemptMessageSchema = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('request'), id: requestIdSchema, method: z.enum(['start', 'reset', 'stop']) }),
  z.strictObject({ type: z.literal('phase'), phase: phaseSchema }),
  z.strictObject({ type: z.literal('step'), step: z.int().min(1), action: z.string(), done: z.boolean() }),
  finishedSchema,
])
export type AttemptMessage = z.infer<typeof attemptMessageSchema>

/** Lines that the coordinator writes to an attempt's control socket. */
export const coordinatorMessageSchema = z.union([
  z.strictObject({ type: z.literal('reply'), id: requestIdSchema, ok: z.literal(true), ports: guestPortsSchema.optional() }),
  z.strictObject({
    type: z.literal('reply'),
    id: requestIdSchema,
    ok: z.literal(false),
    error: z.strictObject({ code: z.string(), message: z.string() }),
  }),
  z.strictObject({ type: z.literal('lost'), reason: z.enum(['guest_lost', 'relay_failed']), message: z.string() }),
])
export type CoordinatorMessage = z.infer<typeof coordinatorMessageSchema>
