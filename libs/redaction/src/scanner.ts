import type { ScanRule, ScanRules } from './scan-rules.ts'

export interface Finding {
  /** Whose secret, or what kind of token; never its value. */
  readonly label: string
  /** Bytes from the beginning. */
  readonly offset: number
}

interface Match {
  readonly rule: ScanRule
  readonly index: number
  readonly end: number
}

/** How far back a rule looks for the start of a word. */
const lookBehindLength = 20

const base64Character = /[A-Za-z0-9+/_-]/

/** Redacts a text that comes in pieces, one character a byte; the result does not depend on where it was cut. */
export class RedactionScanner {
  readonly #rules: ScanRules
  readonly #onFinding: (finding: Finding) => void
  /** Last characters already given out, since some tokens count only at the start of a word. */
  #before = ''
  #held = ''
  /** Bytes before what is held. */
  #offset = 0
  /** A token reached the end of what was known; what goes on from there belongs to it. */
  #openRest: RegExp | undefined

  constructor(rules: ScanRules, onFinding: (finding: Finding) => void = () => undefined) {
    this.#rules = rules
    this.#onFinding = onFinding
  }

  push(piece: string): string {
    this.#held += piece
    const byLine = this.#rules.spansLines ? 0 : Math.max(this.#held.lastIndexOf('\n'), this.#held.lastIndexOf('\r')) + 1
    const byLength = this.#held.length - this.#rules.decisionLength
    // One character less than what is certain is given out, since a match may take the one before it along.
    return byLine >= byLength ? this.#giveOut(byLine, byLine) : this.#giveOut(byLength, byLength - 1)
  }

  end(): string {
    return this.#giveOut(this.#held.length, this.#held.length)
  }

  /** Replaces the matches that begin before `certain`, whole, and gives out what lies before `limit`. */
  #giveOut(certain: number, limit: number): string {
    const text = this.#before + this.#held
    const start = this.#before.length
    let position = this.#skipRest(text, start)
    let output = ''
    for (;;) {
      const match = this.#nextMatch(text, position, start + certain)
      if (match === undefined) break
      output += text.slice(position, match.index) + this.#replace(text, match, this.#offset + match.index - start)
      position = match.end
      this.#openRest = position === text.length ? match.rule.rest : undefined
    }
    const end = Math.max(position, start + limit)
    output += text.slice(position, end)
    this.#offset += end - start
    this.#before = text.slice(Math.max(0, end - lookBehindLength), end)
    this.#held = text.slice(end)
    return output
  }

  #skipRest(text: string, position: number): number {
    const rest = this.#openRest
    if (rest === undefined) return position
    const end = endOf(rest, text, position) ?? position
    if (end < text.length) this.#openRest = undefined
    return end
  }

  /** The first match that begins at `from` or later and before `limit`. */
  #nextMatch(text: string, from: number, limit: number): Match | undefined {
    const { byStart } = this.#rules
    const last = Math.min(limit, text.length - 1)
    for (let index = from; index < last; index += 1) {
      const rules = byStart[(text.charCodeAt(index) << 8) | text.charCodeAt(index + 1)]
      if (rules === undefined) continue
      for (const rule of rules) {
        const end = endOf(rule.expression, text, index)
        if (end !== undefined) return { rule, index: this.#startOf(rule, text, { index, from }), end }
      }
    }
    return undefined
  }

  #startOf(rule: ScanRule, text: string, { index, from }: { readonly index: number; readonly from: number }): number {
    return rule.takesOneBefore && index > from && base64Character.test(text.charAt(index - 1)) ? index - 1 : index
  }

  #replace(text: string, { rule, index }: Match, offset: number): string {
    const shownEnd = rule.shown === undefined ? index : (endOf(rule.shown, text, index) ?? index)
    this.#onFinding({ label: rule.label, offset: offset + shownEnd - index })
    return text.slice(index, shownEnd) + rule.replacement
  }
}

function endOf(sticky: RegExp, text: string, position: number): number | undefined {
  sticky.lastIndex = position
  return sticky.test(text) ? sticky.lastIndex : undefined
}
