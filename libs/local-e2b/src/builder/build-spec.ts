import type { BuiltImage } from '../store/template-document.ts'
import type { ImagePlan } from './image.ts'

export interface BuildStep {
  readonly type: 'RUN' | 'COPY' | 'WORKDIR' | 'USER' | 'ENV'
  readonly args: readonly string[]
  readonly filesHash: string | null
  readonly isForced: boolean
}

export type BuildOrigin = { readonly kind: 'image'; readonly plan: ImagePlan } | { readonly kind: 'template'; readonly reference: string }

/** One build as asked for, checked. */
export interface BuildSpec {
  readonly origin: BuildOrigin
  readonly steps: readonly BuildStep[]
  readonly startCommand: string | null
  readonly readyCommand: string | null
  /** Runs every step again, whatever the cache holds. */
  readonly isForced: boolean
}

/** Where a build stands between two steps. `id` names everything below; layers are topmost first, relative to the data folder. */
export interface BuildState {
  readonly id: string
  readonly layers: readonly string[]
  readonly user: string
  readonly workdir: string
  readonly environment: Readonly<Record<string, string>>
}

export function stateOfImage(image: BuiltImage): BuildState {
  return { id: image.key, layers: image.layers, user: image.user, workdir: image.workdir, environment: image.environment }
}

/** A place in a build that logs and reasons name: `base`, `finalize`, or the number of a step from 1. */
export type StepName = string

export type BuildLog = (step: StepName, message: string, level?: 'info' | 'warn' | 'error') => void
