import { UsageError } from '../usage-error.ts'

/** A flag's whole number from 1 on. */
export function wholeNumber(flag: string, given: string, most = 1_000_000): number {
  const value = Number(given)
  if (/^\d+$/.test(given) && value >= 1 && value <= most) return value
  throw new UsageError(`${flag} ${given} is not a whole number from 1 to ${most}.`)
}

export function price(flag: string, given: string): number {
  if (/^\d+(\.\d+)?$/.test(given)) return Number(given)
  throw new UsageError(`${flag} ${given} is not a price in dollars, such as 0.17.`)
}

/** Dollars as whole cents, since a contract holds no fractions. */
export function cents(flag: string, given: string): number {
  const value = Math.round(Number(given) * 100)
  if (/^\d+(\.\d{1,2})?$/.test(given) && value >= 1 && Number.isSafeInteger(value)) return value
  throw new UsageError(`${flag} ${given} is not an amount in dollars and cents, such as 45 or 0.50.`)
}

export function oneOf<Value extends string>(flag: string, given: string, allowed: readonly Value[]): Value {
  const found = allowed.find((value) => value === given)
  if (found === undefined) throw new UsageError(`${flag} ${given} is unknown; it takes ${allowed.join(' or ')}.`)
  return found
}

/** `key=value` at its first equals sign; undefined when there is none, or nothing before it. */
export function keyAndValue(given: string): readonly [key: string, value: string] | undefined {
  const at = given.indexOf('=')
  return at < 1 ? undefined : [given.slice(0, at), given.slice(at + 1)]
}
