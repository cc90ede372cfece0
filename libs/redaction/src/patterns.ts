/** A form to look for in text whose characters are bytes. */
export interface BytePattern {
  /** Source of a regular expression. */
  readonly source: string
  /** The longest match that it can have. */
  readonly maxLength: number
  /** Every pair of bytes with which a match can begin, so that most places need no closer look. */
  readonly starts: readonly string[]
}

/** Shorter stable parts of base64 would match by accident. */
const shortestBase64 = 6

/** The secret as it is, percent-encoded by whatever encoder, or escaped as in JSON; the forms may mix. */
export function writtenPattern(value: string): BytePattern {
  const units = unitsOf(value).map(spellingsOf)
  return {
    source: units.map((forms) => `(?:${forms.map(({ source }) => source).join('|')})`).join(''),
    maxLength: sum(units.map((forms) => Math.max(...forms.map(({ maxLength }) => maxLength)))),
    starts: startsOf(units),
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

/** Characters; backslashes in a row are one, since single ones could be told apart in exponentially many ways. */
function unitsOf(value: string): string[] {
  return value.match(/\\+|./gsu) ?? []
}

function spellingsOf(unit: string): BytePattern[] {
  const bytes = asBytes(unit)
  const forms = [literal(bytes), percentEncoded(bytes), unicodeEscaped(unit)]
  const escaped = JSON.stringify(unit).slice(1, -1)
  if (escaped !== unit) forms.unshift(literal(asBytes(escaped)))
  if (unit === '/') forms.push(literal('\\/'))
  if (unit === ' ') forms.push(literal('+'))
  return forms
}

function startsOf(units: readonly (readonly BytePattern[])[]): string[] {
  const [first = [], second = []] = units
  const following = second.flatMap(({ starts }) => starts.map((start) => start.charAt(0)))
  const starts = first.flatMap((form) => form.starts.flatMap((start) => (start.length > 1 ? [start] : following.map((next) => start + next))))
  return [...new Set(starts)]
}

function percentEncoded(bytes: string): BytePattern {
  const codes = Array.from(bytes, (byte) => byte.charCodeAt(0).toString(16).padStart(2, '0'))
  const first = codes.join('').charAt(0)
  return { source: codes.map((code) => `%${hexadecimal(code)}`).join(''), maxLength: bytes.length * 3, starts: [`%${first}`, `%${first.toUpperCase()}`] }
}

function unicodeEscaped(unit: string): BytePattern {
  const codes = Array.from({ length: unit.length }, (_, index) => unit.charCodeAt(index).toString(16).padStart(4, '0'))
  return { source: codes.map((code) => `\\\\u${hexadecimal(code)}`).join(''), maxLength: codes.length * 6, starts: ['\\u'] }
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

/** The character after it goes too, since it may hold some bits of the secret. */
function base64Pattern(stable: string): BytePattern {
  const source = stable.replaceAll('+', '[+-]').replaceAll('/', '[/_]')
  const urlSafe = stable.replaceAll('+', '-').replaceAll('/', '_')
  const starts = Array.from(stable.slice(0, 1) + urlSafe.slice(0, 1), (first) => [first + stable.charAt(1), first + urlSafe.charAt(1)])
  return { source: `${source}[A-Za-z0-9+/_-]?`, maxLength: stable.length + 1, starts: [...new Set(starts.flat())] }
}

function literal(bytes: string): BytePattern {
  return { source: bytes.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&'), maxLength: bytes.length, starts: [bytes.slice(0, 2)] }
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0)
}
