export type Tint = 'green' | 'red' | 'yellow' | 'dim' | 'bold'
export type Paint = (text: string, tint: Tint) => string

/** Numbers of SGR, ECMA-48: on and off. */
const codes: Readonly<Record<Tint, readonly [number, number]>> = { green: [32, 39], red: [31, 39], yellow: [33, 39], dim: [2, 22], bold: [1, 22] }

/** Colours, unless `NO_COLOR` is set and not empty (no-color.org). */
export function paintFor(environment: NodeJS.ProcessEnv): Paint {
  return (environment.NO_COLOR ?? '') === '' ? inColour : inPlain
}

export const inPlain: Paint = (text) => text

const inColour: Paint = (text, tint) => {
  const [on, off] = codes[tint]
  return `\u001B[${on}m${text}\u001B[${off}m`
}
