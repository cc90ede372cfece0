import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { type Connection, relayMessageSchema, type RelayMessage, type TemplateRef } from '@osworld-e2b/contracts'
import { z } from 'zod'
import { checkout } from './checkout.ts'

export interface PlainJob {
  readonly id: string
  readonly task_file: string
  readonly actions: readonly unknown[]
}

export interface PlainLoopOptions {
  readonly connection: Connection
  readonly template: TemplateRef
  /** Interpreter of the profile's environment. */
  readonly python: string
  readonly profileFolder: string
  readonly jobs: readonly PlainJob[]
  readonly onLine: (text: string) => void
}

const questionSchema = z.union([
  z.strictObject({ type: z.enum(['start', 'reset', 'stop']) }),
  z.strictObject({ type: z.literal('scored'), id: z.string(), reward: z.number(), seconds: z.number() }),
])

/** Runs the jobs one after another in one process of upstream's environment, on sandboxes of our own relay; gives the rewards. */
export async function runPlainLoop(options: PlainLoopOptions): Promise<ReadonlyMap<string, number>> {
  const folder = await mkdtemp(join(tmpdir(), 'osworld-plain-loop-'))
  const relay = startRelay(options, folder)
  const ending: (() => void)[] = []
  try {
    const { ports } = await relay.next('listening')
    const config = join(folder, 'jobs.json')
    await writeFile(config, JSON.stringify({ folder, profile_dir: options.profileFolder, jobs: options.jobs }))
    const python = spawn(options.python, ['-m', 'osworld_adapter.plain_loop', config], {
      env: { PATH: process.env.PATH ?? '', LANG: 'C.UTF-8', HOME: folder, PYTHONPATH: join(checkout, 'upstream-patches', 'adapter', 'src'), PYTHONDONTWRITEBYTECODE: '1' },
      stdio: ['pipe', 'ignore', 'pipe', 'pipe'],
    })
    const errors: string[] = []
    createInterface({ input: python.stderr as Readable }).on('line', (line) => void errors.push(line))
    const ended = once(python, 'close')
    const rewards = new Map<string, number>()
    ending.push(() => void python.kill('SIGKILL'))
    for await (const line of createInterface({ input: python.stdio[3] as Readable })) {
      const question = questionSchema.parse(JSON.parse(line))
      if (question.type === 'scored') {
        rewards.set(question.id, question.reward)
        options.onLine(`plain loop: ${question.id}: reward ${question.reward}, ${question.seconds.toFixed(1)} s`)
      } else {
        await relay.ask(question.type)
        python.stdin?.write(`${JSON.stringify(question.type === 'stop' ? {} : ports)}\n`)
      }
    }
    const [code] = (await ended) as [number | null]
    if (code !== 0) throw new Error(`The plain loop ended with ${code ?? 'a signal'}: ${errors.slice(-5).join(' ')}`)
    return rewards
  } finally {
    // Nothing happens to one that has ended.
    for (const end of ending) end()
    await relay.end()
    await rm(folder, { recursive: true, force: true })
  }
}

interface Relay {
  next<Type extends RelayMessage['type']>(type: Type): Promise<RelayMessage & { readonly type: Type }>
  /** Throws when the relay refuses. */
  ask(type: 'start' | 'reset' | 'stop'): Promise<void>
  /** Ends the relay and, with it, its sandbox. */
  end(): Promise<void>
}

function startRelay({ connection, template }: PlainLoopOptions, folder: string): Relay {
  const child = spawn(process.execPath, [join(checkout, 'apps', 'relay-bin', 'dist', 'main.js')], { env: { PATH: process.env.PATH ?? '' }, stdio: ['pipe', 'pipe', 'ignore'] })
  const ended = once(child, 'close')
  const lines: AsyncIterator<string, undefined> = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  const write = (value: unknown) => void child.stdin.write(`${JSON.stringify(value)}\n`)
  let id = 0
  const next: Relay['next'] = async (type) => {
    for (;;) {
      const { value, done } = await lines.next()
      if (done === true) throw new Error('The relay of the plain loop ended early.')
      const message = relayMessageSchema.parse(JSON.parse(value))
      if (message.type === type) return message as RelayMessage & { readonly type: typeof type }
    }
  }
  write({
    type: 'configure',
    connection,
    template,
    metadata: { workload: 'osworld-e2b-bench' },
    sandbox_timeout_seconds: 60,
    ready_deadline_seconds: 120,
    screen: { width: 1920, height: 1080 },
    events_file: join(folder, 'relay-events.jsonl'),
  })
  return {
    next,
    ask: async (type) => {
      id += 1
      write({ type, id })
      const reply = await next('reply')
      if (!reply.ok) throw new Error(`${type} failed in the plain loop: ${reply.error.message}`)
    },
    end: async () => {
      child.stdin.end()
      await ended
    },
  }
}
