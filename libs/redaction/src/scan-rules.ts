import { asBytes, base64Patterns, type BytePattern, writtenPattern } from './patterns.ts'
import { RedactionError } from './redaction-error.ts'
import type { Secret } from './secret.ts'
import { tokenForms, type TokenForm } from './token-shapes.ts'

/** One form to look for. Its expressions are sticky. */
export interface ScanRule {
  readonly label: string
  readonly expression: RegExp
  /** What is written instead, as bytes. */
  readonly replacement: string
  /** A base64 character in front goes too, since it may hold some bits of the secret. */
  readonly takesOneBefore: boolean
  /** For a token: what goes on from it, however far. */
  readonly rest?: RegExp
  /** For a value after a name: the part that stays. */
  readonly shown?: RegExp
}

export interface ScanRules {
  /** The rules whose matches begin with two bytes, by the number that the two make; in the order in which they count. */
  readonly byStart: readonly (readonly ScanRule[] | undefined)[]
  /** Whether a match begins at a place is certain once this many characters from there on are known. */
  readonly decisionLength: number
  /** Without such a secret no match is decided across a line end, so whole lines need not be held back. */
  readonly spansLines: boolean
}

/** A value this short stands in every text. */
const shortestSecret = 4

/** What to look for: the secrets in all their forms, longer ones first, then whatever looks like a token. */
export function scanRules(secrets: readonly Secret[]): ScanRules {
  const known = [...secrets].sort((left, right) => right.reveal().length - left.reveal().length)
  const entries = [...known.flatMap(declaredRules), ...tokenForms.map(tokenRule)]
  return {
    byStart: groupByStart(entries),
    decisionLength: Math.max(...entries.map(({ pattern }) => pattern.maxLength)),
    spansLines: known.some((value) => /[\r\n]/.test(value.reveal())),
  }
}

interface Entry {
  readonly pattern: BytePattern
  readonly rule: ScanRule
}

function declaredRules(value: Secret): Entry[] {
  const text = value.reveal()
  if (text.length < shortestSecret) {
    throw new RedactionError('too_short', `The secret "${value.label}" has under ${shortestSecret} characters, so hiding it would spoil every text; use a longer one.`)
  }
  const own = { label: value.label, replacement: asBytes(value.toString()) }
  const written = writtenPattern(text)
  return [
    { pattern: written, rule: { ...own, expression: new RegExp(written.source, 'y'), takesOneBefore: false } },
    ...base64Patterns(text).map((pattern) => ({ pattern, rule: { ...own, expression: new RegExp(pattern.source, 'y'), takesOneBefore: true } })),
  ]
}

function tokenRule({ label, head, rest, shown }: TokenForm): Entry {
  const own = { label, replacement: '[secret token]', takesOneBefore: false, expression: new RegExp(`${head.source}[${rest}]*`, 'y'), rest: new RegExp(`[${rest}]*`, 'y') }
  return { pattern: head, rule: shown === undefined ? own : { ...own, shown: new RegExp(shown, 'y') } }
}

function groupByStart(entries: readonly Entry[]): (readonly ScanRule[] | undefined)[] {
  const groups = Array.from({ length: 65_536 }, (): ScanRule[] | undefined => undefined)
  for (const { pattern, rule } of entries) {
    for (const start of new Set(pattern.starts)) {
      const number = (start.charCodeAt(0) << 8) | start.charCodeAt(1)
      groups[number] = [...(groups[number] ?? []), rule]
    }
  }
  return groups
}
