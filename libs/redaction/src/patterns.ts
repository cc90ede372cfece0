/** Source of a regular expression over text whose characters are bytes, and the longest match that it can have. */
export interface BytePattern {
  readonly source: string
  readonly maxLength: number
}

/** Shorter stable parts of base64 would match by accident. */
const shortestBase64 = 6

/** The secret as it is, percent-encoded by whatever encoder, or escaped as in JSON; the forms may mix. */
export function writtenPattern(value: string): BytePattern {
  const spellings = Array.from(value, spellingsOf)
  return {
    source: spellings.map((forms) => `(?:${forms.map(({ source }) => source).join('|')})`).join(''),
    maxLength: sum(spellings.map((forms) => Math.max(...forms.map(({ maxLength }) => maxLength)))),
  }
}

/** The secret within base64 of a longer text: its characters depend on where in a group of three bytes it begins. */
export function base64Patterns(value: string): BytePattern[] {
  const bytes = Buffer.from(value, 'utf8')
  return [0, 1, 2].map((before) => stableBase64(bytes, before)).filter((text) => text.length >= shortestBase64).map(base64Pattern)
}

/** Bytes of a text as characters, so that positions in text and stream are the same. */
export function asBytes(text: string): string {
  return Buffer.from(text, 'utf8').toString('latin1')
}

function spellingsOf(character: string): BytePattern[] {
  const bytes = asBytes(character)
  const forms = [literal(bytes), percentEncoded(bytes), unicodeEscaped(character)]
  const escaped = JSON.stringify(character).slice(1, -1)
  if (escaped !== character) forms.unshift(literal(asBytes(escaped)))
  if (character === '/') forms.push(literal('\\/'))
  if (character === ' ') forms.push(literal('+'))
  return forms
}

function percentEncoded(bytes: string): BytePattern {
  const source = Array.from(bytes, (byte) => `%${hexadecimal(byte.charCodeAt(0).toString(16).padStart(2, '0'))}`).join('')
  return { source, maxLength: bytes.length * 3 }
}

function unicodeEscaped(character: string): BytePattern {
  const units = Array.from({ length: character.length }, (_, index) => character.charCodeAt(index).toString(16).padStart(4, '0'))
  return { source: units.map((unit) => `\\\\u${hexadecimal(unit)}`).join(''), maxLength: units.length * 6 }
}

function hexadecimal(digits: string): string {
  return digits.replace(/[a-f]/g, (digit) => `[${digit}${digit.toUpperCase()}]`)
}

/** What stays the same whatever stands `before` (0 to 2 bytes into a group) and after. */
function stableBase64(bytes: Buffer, before: number): string {
  const text = Buffer.concat([Buffer.alloc(before), bytes]).toString('base64').replace(/=+$/, '')
  const mixedAtStart = [0, 2, 3][before] ?? 0
  const mixedAtEnd = (before + bytes.length) % 3 === 0 ? 0 : 1
  return text.slice(mixedAtStart, text.length - mixedAtEnd)
}

/** One character on each side goes too, since it may hold some bits of the secret. */
function base64Pattern(stable: string): BytePattern {
  const neighbour = '[A-Za-z0-9+/_-]?'
  const source = stable.replaceAll('+', '[+-]').replaceAll('/', '[/_]')
  return { source: `${neighbour}${source}${neighbour}`, maxLength: stable.length + 2 }
}

function literal(bytes: string): BytePattern {
  return { source: bytes.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&'), maxLength: bytes.length }
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0)
}
