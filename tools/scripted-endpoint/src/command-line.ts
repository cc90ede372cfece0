import { parseArgs } from 'node:util'
import { ScriptedEndpointError } from './scripted-endpoint-error.ts'

export interface CommandLine {
  readonly script: string
  readonly port: number
  readonly json: boolean
}

const usage = 'use: scripted-endpoint --script FILE [--port N] [--json]'

/** Reads the arguments. Throws `usage`. */
export function readCommandLine(args: readonly string[]): CommandLine {
  const { script, port = '0', json } = parse(args)
  if (script === undefined) throw new ScriptedEndpointError('usage', `--script is missing: it names the file that says what is answered; ${usage}.`)
  if (!/^\d{1,5}$/.test(port) || Number(port) > 65_535) throw new ScriptedEndpointError('usage', `--port ${port} is no port; give a number from 0 (any free one) to 65535.`)
  return { script, port: Number(port), json }
}

function parse(args: readonly string[]) {
  try {
    const options = { script: { type: 'string' }, port: { type: 'string' }, json: { type: 'boolean', default: false } } as const
    return parseArgs({ args: [...args], options, strict: true, allowPositionals: false }).values
  } catch (error) {
    if (!(error instanceof TypeError)) throw error
    throw new ScriptedEndpointError('usage', `${error.message.split('. ')[0] ?? ''}; ${usage}.`, { cause: error })
  }
}
