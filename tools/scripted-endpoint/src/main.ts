import { readFile } from 'node:fs/promises'
import { readCommandLine } from './command-line.ts'
import { type ScriptedCall, startScriptedEndpoint } from './endpoint.ts'
import { parseScriptText } from './script.ts'
import { ScriptedEndpointError } from './scripted-endpoint-error.ts'

/** First a line that says where it listens, then one a call; until a signal. */
async function main(args: readonly string[]): Promise<void> {
  const { script: file, port, json } = readCommandLine(args)
  const script = parseScriptText(await readScript(file), file)
  const say = (value: Readonly<Record<string, unknown>>, text: string) => void process.stdout.write(`${json ? JSON.stringify(value) : text}\n`)
  const endpoint = await startScriptedEndpoint({ script, port, onCall: (call) => say({ type: 'call', ...shown(call) }, callText(call)) })
  const { url } = endpoint
  say({ type: 'listening', url, openai_base_url: `${url}/v1`, anthropic_base_url: url }, `Listening on ${url} (OpenAI's clients: ${url}/v1)`)
  const stop = () => void endpoint.close()
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, stop)
}

async function readScript(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8')
  } catch (error) {
    throw new ScriptedEndpointError('script_invalid', `${file} cannot be read (${error instanceof Error ? error.message : String(error)}); name a script with --script.`, { cause: error })
  }
}

/** Neither keys nor what was asked: both may be long, and the first is nobody's business. */
function shown({ api, model, isStreamed, task, step, fault }: ScriptedCall): Readonly<Record<string, unknown>> {
  return { api, model, streamed: isStreamed, task: task ?? null, step, fault: fault ?? null }
}

function callText({ api, task, step, fault }: ScriptedCall): string {
  return `${api}: ${task ?? 'no task'}, step ${step}${fault === undefined ? '' : `, ${fault}`}`
}

try {
  await main(process.argv.slice(2))
} catch (error) {
  if (!(error instanceof ScriptedEndpointError)) throw error
  process.stderr.write(`${error.message}\n`)
  process.exitCode = 2
}
