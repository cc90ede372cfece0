import { base64OfSets, bytesOfClass } from './byte-classes.ts'
import { asBytes, base64Patterns, type BytePattern, writtenPattern } from './patterns.ts'

/** A form in which a secret shows that nobody declared. */
export interface TokenForm {
  readonly label: string
  /** What tells it; `maxLength` characters are enough to know. */
  readonly head: BytePattern
  /** Class of the characters that go on after the head, however many. */
  readonly rest: string
  /** Length of the part in front that may stay, as source: a header's name tells whose secret was here. */
  readonly shown?: string
}

interface KeyShape {
  readonly label: string
  readonly prefixes: readonly string[]
  /** Class of the characters after the prefix. */
  readonly body: string
  readonly minLength: number
  /** For a prefix that also ends words. */
  readonly beginsWord?: boolean
}

const letters = 'A-Za-z0-9'
const word = `${letters}_-`
const base64 = `${letters}+/_=-`

/** Prefixes as their issuers document them; one row a service, and our own keys of one attempt. */
const keyShapes: readonly KeyShape[] = [
  { label: 'E2B key', prefixes: ['e2b_'], body: '0-9a-fA-F', minLength: 40 },
  { label: 'attempt key', prefixes: ['osw-'], body: '0-9a-f', minLength: 48 },
  { label: 'model key', prefixes: ['sk-'], body: word, minLength: 20, beginsWord: true },
  { label: 'model key', prefixes: ['gsk_', 'xai-'], body: letters, minLength: 40 },
  { label: 'AWS access key', prefixes: ['AKIA', 'ASIA'], body: 'A-Z0-9', minLength: 16 },
  { label: 'Google API key', prefixes: ['AIza'], body: word, minLength: 35 },
  { label: 'Google token', prefixes: ['ya29.'], body: `${letters}_.-`, minLength: 20 },
  { label: 'Google client secret', prefixes: ['GOCSPX-'], body: word, minLength: 20 },
  { label: 'GitHub token', prefixes: ['ghp_', 'gho_', 'ghu_', 'ghs_', 'ghr_'], body: letters, minLength: 36 },
  { label: 'GitHub token', prefixes: ['github_pat_'], body: `${letters}_`, minLength: 22 },
  { label: 'Hugging Face token', prefixes: ['hf_'], body: letters, minLength: 30 },
]

/** A word begins after what is no letter or digit, and after an escape that ends in one: `%3D`, `\n`, `\u003d`, a terminal's colour. */
const wordStart = '(?:^|[^A-Za-z0-9]|%[0-9A-Fa-f]{2}|\\\\[bfnrt]|\\\\u[0-9A-Fa-f]{4}|\\x1b\\[[0-9;]{0,12}m)'

/** Enough of the body for certainty; each further character would only slow the search down. */
const longestBase64Body = 20

/** Headers and settings whose value is secret, whatever it looks like. */
const secretNames = ['x-access-token', 'traffic-access-token', 'x-api-key', 'x-goog-api-key', 'aws_secret_access_key', 'aws_session_token']
const shortestValue = 16

export const tokenForms: readonly TokenForm[] = [
  ...keyShapes.flatMap((shape) => shape.prefixes.flatMap((prefix) => [writtenKey(shape, prefix), ...encodedKey(shape, prefix)])),
  jsonWebToken(),
  privateKey(),
  ...base64Patterns('PRIVATE KEY-----').map((head) => ({ label: 'private key', head, rest: base64 })),
  namedValue('bearer token', 'bearer', '(?: |\\+|%20|\\\\u0020){1,4}'),
  ...secretNames.map((name) => namedValue(`value of ${name}`, name, '(?:\\\\?["\']|%22)?[ \\t]{0,4}(?:[:=]|%3[AaDd])[ \\t]{0,4}(?:\\\\?["\']|%22)?')),
]

function writtenKey({ label, body, minLength, beginsWord = false }: KeyShape, prefix: string): TokenForm {
  const start = writtenPattern(prefix)
  const rest = `%${body}`
  const source = `${start.source}${beginsWord ? `(?<=${wordStart}${start.source})` : ''}[${rest}]{${minLength}}`
  return { label, head: { source, maxLength: start.maxLength + minLength, starts: start.starts }, rest }
}

/** The rest of the encoded text goes with the key, since where the key ends in it is not looked for. */
function encodedKey({ label, body, minLength }: KeyShape, prefix: string): TokenForm[] {
  const bodySet = bytesOfClass(body)
  const sets = [...Buffer.from(prefix)].map((byte) => new Set([byte])).concat(Array.from({ length: Math.min(minLength, longestBase64Body) }, () => new Set(bodySet)))
  return [0, 1, 2].map((before) => ({ label, head: base64OfSets(sets, before), rest: base64 }))
}

/** Header and payload are base64 of JSON objects, which begin alike (RFC 7519). */
function jsonWebToken(): TokenForm {
  const longestHeader = 200
  const head = { source: `eyJ[${word}]{7,${longestHeader}}\\.eyJ[${word}]{4}`, maxLength: longestHeader + 11, starts: ['ey'] }
  return { label: 'JSON web token', head, rest: `${letters}_.-` }
}

/** The armour of RFC 7468; in JSON its line ends are two characters. */
function privateKey(): TokenForm {
  const words = 24
  const head = { source: `-----BEGIN [A-Z ]{0,${words}}PRIVATE KEY-----`, maxLength: 27 + words, starts: ['--'] }
  return { label: 'private key', head, rest: `${letters}+/=\\r\\n\\\\` }
}

function namedValue(label: string, name: string, between: string): TokenForm {
  const rest = `${letters}._~+/=%-`
  const shown = `${anyCase(name)}${between}`
  const head = { source: `${shown}[${rest}]{${shortestValue}}`, maxLength: name.length + 24 + shortestValue, starts: startsOfName(name) }
  return { label, head, rest, shown }
}

function anyCase(name: string): string {
  return Array.from(asBytes(name), (character) => (/[a-z]/.test(character) ? `[${character}${character.toUpperCase()}]` : character)).join('')
}

function startsOfName(name: string): string[] {
  const [first = '', second = ''] = name
  return [first, first.toUpperCase()].flatMap((one) => [one + second, one + second.toUpperCase()])
}
