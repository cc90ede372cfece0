import { inspect } from 'node:util'
import { RedactionError } from './redaction-error.ts'

/** A value that prints as `[secret label]` wherever it is printed; only `reveal` gives it out. */
export interface Secret {
  readonly label: string
  reveal(): string
  toString(): string
  toJSON(): string
}

/** Wraps `value`; the label is public and names the value in logs. Refuses an empty value. */
export function secret(value: string, label: string): Secret {
  if (value === '') throw new RedactionError('empty', `The secret "${label}" is empty; give it a value or leave it out.`)
  return new HiddenValue(value, label)
}

/** The value lies in a private field, so no key listing, spread, clone or debugger print of properties holds it. */
class HiddenValue implements Secret {
  readonly label: string
  readonly #value: string

  constructor(value: string, label: string) {
    this.#value = value
    this.label = label
  }

  reveal(): string {
    return this.#value
  }

  toString(): string {
    return `[secret ${this.label}]`
  }

  toJSON(): string {
    return this.toString()
  }

  [inspect.custom](): string {
    return this.toString()
  }
}
