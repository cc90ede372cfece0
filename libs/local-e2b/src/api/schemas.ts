import { z } from 'zod'

const seconds = z.int('must be a whole number of seconds').positive('must be above 0 seconds')
const textMap = z.record(z.string(), z.string())

/** Objects are loose here, unlike our own documents: other SDK versions send fields that this server does not know. */
const network = z.looseObject({
  allowOut: z.array(z.string()).nullish(),
  denyOut: z.array(z.string()).nullish(),
  rules: z.unknown().optional(),
  egressProxy: z.unknown().optional(),
  allowPublicTraffic: z.boolean().nullish(),
  maskRequestHost: z.string().regex(/^[A-Za-z0-9.:${}_-]*$/, 'must be a host, with ${PORT} for the port').nullish(),
  httpsPorts: z.array(z.int()).nullish(),
})
export type NetworkBody = z.infer<typeof network>

export const createBody = z.looseObject({
  templateID: z.string().min(1),
  metadata: textMap.nullish(),
  envVars: textMap.nullish(),
  timeout: seconds.nullish(),
  allow_internet_access: z.boolean().nullish(),
  network: network.nullish(),
  autoPause: z.boolean().nullish(),
  autoResume: z.looseObject({ enabled: z.boolean().nullish() }).nullish(),
  iam: z.unknown().optional(),
  volumeMounts: z.array(z.unknown()).nullish(),
})
export type CreateBody = z.infer<typeof createBody>

export const networkBody = network
export const connectBody = z.looseObject({ timeout: seconds.nullish(), memory: z.boolean().nullish() })
export const connectBodyV1 = z.looseObject({ timeout: seconds })
export const timeoutBody = z.looseObject({ timeout: z.int('must be a whole number of seconds').nonnegative() })
export const refreshBody = z.looseObject({ duration: z.int().nonnegative().max(3600).nullish() })

export const newTemplateBody = z.looseObject({
  name: z.string().min(1).optional(),
  alias: z.string().min(1).optional(),
  tags: z.array(z.string()).nullish(),
  cpuCount: z.int().min(1).max(256).nullish(),
  memoryMB: z.int().min(128).nullish(),
})

const stepArguments = {
  RUN: z.array(z.string()).min(1).max(2),
  COPY: z.array(z.string()).min(2).max(4),
  WORKDIR: z.array(z.string()).length(1),
  USER: z.array(z.string()).length(1),
  ENV: z.array(z.string()).min(2).refine((pairs) => pairs.length % 2 === 0, 'must be pairs of name and value'),
} as const

const stepCommon = { force: z.boolean().nullish() }

const step = z.discriminatedUnion('type', [
  z.looseObject({ ...stepCommon, type: z.literal('RUN'), args: stepArguments.RUN }),
  z.looseObject({ ...stepCommon, type: z.literal('COPY'), args: stepArguments.COPY, filesHash: z.string().regex(/^[0-9a-f]{64}$/) }),
  z.looseObject({ ...stepCommon, type: z.literal('WORKDIR'), args: stepArguments.WORKDIR }),
  z.looseObject({ ...stepCommon, type: z.literal('USER'), args: stepArguments.USER }),
  z.looseObject({ ...stepCommon, type: z.literal('ENV'), args: stepArguments.ENV }),
])

export const buildBody = z.looseObject({
  fromImage: z.string().nullish(),
  fromTemplate: z.string().nullish(),
  fromImageRegistry: z.unknown().optional(),
  startCmd: z.string().nullish(),
  readyCmd: z.string().nullish(),
  force: z.boolean().nullish(),
  steps: z.array(step).nullish(),
})
export type BuildBody = z.infer<typeof buildBody>

export const assignTagsBody = z.looseObject({ target: z.string().min(1), tags: z.array(z.string()).min(1) })
export const removeTagsBody = z.looseObject({ name: z.string().min(1), tags: z.array(z.string()).min(1) })
