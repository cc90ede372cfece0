import { execa } from 'execa'
import { z } from 'zod'
import { type Environment, interpreterNames, pick } from './environment.ts'
import { UpstreamError } from './upstream-error.ts'

/** One interpreter that can run OSWorld. */
export interface Python {
  /** Absolute path of the interpreter itself, not of a version manager's shim. */
  readonly path: string
  /** Such as `3.11.7`. */
  readonly version: string
  readonly basePrefix: string
  /** Such as `linux-x86_64`. */
  readonly platform: string
  /** False where the distribution packs `venv` apart and it is not installed. */
  readonly canMakeEnvironments: boolean
}

export interface FindPythonOptions {
  /** Commands or paths in order of preference. */
  readonly candidates?: readonly string[]
  readonly environment: Environment
}

const usualCandidates = ['python3.12', 'python3.11', 'python3'] as const
const probeDeadlineMs = 20_000

const probe = `
import importlib.util, json, platform, sys, sysconfig
print(json.dumps({
    "path": sys.executable,
    "version": platform.python_version(),
    "basePrefix": sys.base_prefix,
    "platform": sysconfig.get_platform(),
    "canMakeEnvironments": all(importlib.util.find_spec(name) for name in ("venv", "ensurepip")),
}))
`

const answerSchema = z.strictObject({
  path: z.string().startsWith('/'),
  version: z.string(),
  basePrefix: z.string().startsWith('/'),
  platform: z.string(),
  canMakeEnvironments: z.boolean(),
})

/** The first Python 3.11 or 3.12 among the candidates, one that can make environments before one that cannot; refuses other versions by name. */
export async function findPython({ candidates = usualCandidates, environment }: FindPythonOptions): Promise<Python> {
  const findings = await Promise.all(candidates.map((candidate) => askPython(candidate, environment)))
  const fitting = findings.filter((finding) => typeof finding !== 'string')
  const chosen = fitting.find(({ canMakeEnvironments }) => canMakeEnvironments) ?? fitting[0]
  if (chosen !== undefined) return chosen
  const reasons = findings.filter((finding) => typeof finding === 'string').join(', ')
  throw new UpstreamError('python_not_found', `OSWorld needs Python 3.11 or 3.12, but ${reasons}; install python3.11 with python3.11-venv, or name the interpreter to use.`)
}

/** The interpreter behind a candidate, or what is wrong with it. */
async function askPython(candidate: string, environment: Environment): Promise<Python | string> {
  const { stdout, failed } = await execa(candidate, ['-I', '-c', probe], {
    env: pick(environment, interpreterNames),
    extendEnv: false,
    reject: false,
    stdin: 'ignore',
    timeout: probeDeadlineMs,
  })
  if (failed) return `${candidate} does not start`
  const answer = parseAnswer(stdout)
  if (answer === undefined) return `${candidate} does not answer like Python`
  return /^3\.1[12]\./.test(answer.version) ? answer : `${candidate} is Python ${answer.version}`
}

function parseAnswer(text: string): Python | undefined {
  try {
    return answerSchema.parse(JSON.parse(text))
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof z.ZodError) return undefined
    throw error
  }
}
