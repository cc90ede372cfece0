import { canonicalJson, sha256Hex } from '@osworld-e2b/inventory'
import type { BaseImage } from '../driver.ts'

/** Half a SHA-256 in hex: long enough to be unique, short enough for the length limit of mount options. */
const keyLength = 32

export interface KeyedStep {
  readonly type: string
  readonly args: readonly string[]
  readonly filesHash: string | null
}

export function baseKey(base: BaseImage): string {
  return digest({ kind: 'base', version: 1, base: { ...base } })
}

/** Where the result of `step` on top of the layer `previous` is looked up. */
export function stepKey(previous: string, step: KeyedStep): string {
  return digest({ kind: 'step', version: 1, previous, type: step.type, args: step.args, files_hash: step.filesHash })
}

/** Identity of a layer that was made again on demand: later steps must not be found in the cache of the older one. */
export function forcedLayerId(key: string, buildId: string): string {
  return digest({ kind: 'forced', version: 1, key, build: buildId })
}

function digest(value: unknown): string {
  return sha256Hex(canonicalJson(value)).slice(0, keyLength)
}
