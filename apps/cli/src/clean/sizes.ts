import type { Removal } from './plan-cleaning.ts'

type Sized = Pick<Removal, 'paths'>

/** Each path once. */
export function pathsOf(things: readonly Sized[]): readonly string[] {
  return [...new Set(things.flatMap(({ paths }) => paths))]
}

/** Null when none of its paths could be measured; a thing without paths has no size. */
export function sizeOf({ paths }: Sized, sizes: ReadonlyMap<string, number>): number | null {
  const known = paths.flatMap((path) => sizes.get(path) ?? [])
  return known.length === 0 && paths.length > 0 ? null : sumOf(known.map((bytes) => ({ bytes })))
}

/** What could not be measured counts nothing. */
export function sumOf(sized: readonly { readonly bytes: number | null }[]): number {
  return sized.reduce((sum, { bytes }) => sum + (bytes ?? 0), 0)
}
