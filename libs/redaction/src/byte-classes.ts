import type { BytePattern } from './patterns.ts'

/** Characters of standard and URL-safe base64 by their six bits; the last two have two spellings each. */
const digits = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789'

const anyByte: ReadonlySet<number> = new Set(Array.from({ length: 256 }, (_, byte) => byte))

/** The ASCII characters that a regular expression's class such as `A-Za-z0-9_` holds. */
export function bytesOfClass(content: string): ReadonlySet<number> {
  const member = new RegExp(`[${content}]`)
  return new Set(Array.from({ length: 128 }, (_, byte) => byte).filter((byte) => member.test(String.fromCharCode(byte))))
}

/**
 * What base64 makes of bytes of which only the possible values are known. Characters that also depend on the `before`
 * bytes in front, or on what follows, are left out.
 */
export function base64OfSets(bytes: readonly ReadonlySet<number>[], before: number): BytePattern {
  const all = [...Array.from({ length: before }, () => anyByte), ...bytes]
  const first = Math.ceil((before * 8) / 6)
  const last = Math.floor((all.length * 8) / 6)
  const values = Array.from({ length: last - first }, (_, index) => sextets(all, first + index))
  const starts = spellingsOf(values[0]).flatMap((one) => spellingsOf(values[1]).map((two) => one + two))
  return { source: values.map(classOf).join(''), maxLength: values.length, starts }
}

function spellingsOf(values: ReadonlySet<number> = new Set()): string[] {
  return [...values].flatMap((value) => (value === 62 ? ['+', '-'] : value === 63 ? ['/', '_'] : [digits.charAt(value)]))
}

/** Which values the six bits at `index` can have. */
function sextets(bytes: readonly ReadonlySet<number>[], index: number): Set<number> {
  const at = Math.floor((index * 6) / 8)
  const shift = 10 - ((index * 6) % 8)
  const values = new Set<number>()
  for (const left of bytes[at] ?? []) {
    for (const right of (shift < 8 ? bytes[at + 1] : undefined) ?? [0]) values.add((((left << 8) | right) >> shift) & 63)
  }
  return values
}

function classOf(values: ReadonlySet<number>): string {
  const sorted = [...values].sort((left, right) => left - right)
  const [only] = sorted
  if (sorted.length === 1 && only !== undefined && only < 62) return digits.charAt(only)
  const { plus, slash } = { plus: values.has(62) ? '+\\-' : '', slash: values.has(63) ? '/_' : '' }
  return `[${rangesOf(sorted.filter((value) => value < 62))}${plus}${slash}]`
}

/** Neighbouring characters as ranges, which a regular expression checks faster. */
function rangesOf(sorted: readonly number[]): string {
  const runs: [string, string][] = []
  for (const character of sorted.map((value) => digits.charAt(value))) {
    const run = runs.at(-1)
    if (run !== undefined && run[1].charCodeAt(0) + 1 === character.charCodeAt(0)) run[1] = character
    else runs.push([character, character])
  }
  return runs.map(([from, to]) => (from === to ? from : `${from}-${to}`)).join('')
}
