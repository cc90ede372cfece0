export interface ScanRules {
  /** Global; the groups `s0`, `s1`… are the secrets in the order of `labels`, no group is a token. */
  readonly expression: RegExp
  readonly labels: readonly string[]
  /** Whether a match begins at a place is certain once this many characters from there on are known. */
  readonly decisionLength: number
  /** Without such a secret no match crosses a line end, so whole lines need not be held back. */
  readonly spansLines: boolean
}

const tokenLabel = '[secret token]'
const tokenRest = /[A-Za-z0-9_-]*/y

/** Redacts a text that comes in pieces; the result does not depend on where it was cut. */
export class RedactionScanner {
  readonly #rules: ScanRules
  /** Last character already given out, since a token counts only where no word goes on. */
  #before = ''
  #held = ''
  /** A token reached the end of what was known; what goes on from there belongs to it. */
  #insideToken = false

  constructor(rules: ScanRules) {
    this.#rules = rules
  }

  push(piece: string): string {
    this.#held += piece
    return this.#giveOut(this.#certainLength())
  }

  end(): string {
    return this.#giveOut(this.#held.length)
  }

  #certainLength(): number {
    const byLength = this.#held.length - this.#rules.decisionLength
    const byLine = this.#rules.spansLines ? 0 : this.#held.lastIndexOf('\n') + 1
    return Math.max(0, byLength, byLine)
  }

  /** Gives out what begins before `certain`; a match that begins there is taken whole. */
  #giveOut(certain: number): string {
    const text = this.#before + this.#held
    const limit = this.#before.length + certain
    let position = this.#skipToken(text, this.#before.length)
    let output = ''
    while (position < limit) {
      const match = this.#matchFrom(text, position)
      const start = Math.min(match?.index ?? limit, limit)
      output += text.slice(position, start)
      position = start
      if (match === null || start === limit) break
      const label = this.#labelOf(match)
      output += label
      position += match[0].length
      this.#insideToken = label === tokenLabel && match[0].startsWith('sk-') && position === text.length
    }
    this.#before = text.slice(Math.max(0, position - 1), position)
    this.#held = text.slice(position)
    return output
  }

  #skipToken(text: string, position: number): number {
    if (!this.#insideToken) return position
    tokenRest.lastIndex = position
    tokenRest.exec(text)
    this.#insideToken = tokenRest.lastIndex === text.length
    return tokenRest.lastIndex
  }

  #matchFrom(text: string, position: number): RegExpExecArray | null {
    this.#rules.expression.lastIndex = position
    return this.#rules.expression.exec(text)
  }

  #labelOf(match: RegExpExecArray): string {
    const index = this.#rules.labels.findIndex((_, secret) => match.groups?.[`s${secret}`] !== undefined)
    return this.#rules.labels[index] ?? tokenLabel
  }
}
