import { compareCodePoints } from './code-points.ts'
import { InventoryError } from './inventory-error.ts'

interface Style {
  readonly indent: string
  readonly colon: string
  readonly floats: boolean
}

const canonicalStyle: Style = { indent: '', colon: ':', floats: false }
const prettyStyle: Style = { indent: '  ', colon: ': ', floats: true }

/**
 * The one text that JSON digests are taken over: sorted keys, no spaces, ASCII only, as Python's
 * `json.dumps(value, sort_keys=True, separators=(',', ':'))` writes it. Refuses fractions, since languages print them differently.
 */
export function canonicalJson(value: unknown): string {
  return write(value, '$', { style: canonicalStyle, margin: '' })
}

/** JSON for files: two spaces, sorted keys, ASCII only, final newline. */
export function prettyJson(value: unknown): string {
  return `${write(value, '$', { style: prettyStyle, margin: '' })}\n`
}

interface Place {
  readonly style: Style
  readonly margin: string
}

function write(value: unknown, path: string, place: Place): string {
  if (value === null || typeof value === 'boolean') return String(value)
  if (typeof value === 'string') return quote(value)
  if (typeof value === 'number') return writeNumber(value, path, place.style)
  if (Array.isArray(value)) return writeArray(value, path, place)
  if (isPlainObject(value)) return writeObject(value, path, place)
  throw refuse(path, `is ${describe(value)}, which JSON does not have; leave the field out or use null`)
}

function writeArray(items: readonly unknown[], path: string, place: Place): string {
  const inner = { style: place.style, margin: place.margin + place.style.indent }
  return bracket('[]', Array.from(items, (item, index) => write(item, `${path}[${index}]`, inner)), place)
}

function writeObject(object: Readonly<Record<string, unknown>>, path: string, place: Place): string {
  const inner = { style: place.style, margin: place.margin + place.style.indent }
  const lines = Object.keys(object)
    .sort(compareCodePoints)
    .map((key) => `${quote(key)}${place.style.colon}${write(object[key], `${path}.${key}`, inner)}`)
  return bracket('{}', lines, place)
}

function bracket(pair: '[]' | '{}', items: readonly string[], { style, margin }: Place): string {
  if (items.length === 0) return pair
  if (style.indent === '') return `${pair.charAt(0)}${items.join(',')}${pair.charAt(1)}`
  const inner = margin + style.indent
  return `${pair.charAt(0)}\n${inner}${items.join(`,\n${inner}`)}\n${margin}${pair.charAt(1)}`
}

function writeNumber(value: number, path: string, style: Style): string {
  if (Number.isSafeInteger(value)) return String(value)
  if (!Number.isFinite(value)) throw refuse(path, `is ${value}, which JSON does not have; use null`)
  if (style.floats) return String(value)
  if (Number.isInteger(value)) throw refuse(path, `is ${value}, too large to be exact; write it as a string`)
  throw refuse(path, `is the fraction ${value}, which languages print differently; write it as a string or in a smaller unit`)
}

/** Lone surrogates are escaped like any other unit, so that no two different strings have one text. */
function quote(text: string): string {
  return JSON.stringify(text).replace(/[\u007f-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

function isPlainObject(value: unknown): value is Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null) return false
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === null || prototype === Object.prototype
}

function describe(value: unknown): string {
  if (typeof value !== 'object' || value === null) return typeof value
  return `an instance of ${value.constructor.name}`
}

function refuse(path: string, problem: string): InventoryError {
  return new InventoryError('not_canonical', `The value at ${path} ${problem}.`)
}
