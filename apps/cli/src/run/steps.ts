import { performance } from 'node:perf_hooks'

const quietMs = 2_000
const plainLineEveryMs = 15_000

export interface Steps {
  /** Runs `work`; says so on standard error once it takes over two seconds, with the time it took. */
  step<Result>(title: string, work: () => Promise<Result>): Promise<Result>
  line(text: string): void
}

/** Progress of the parts before a campaign: plain lines, so that a log file reads well too. */
export function createSteps(output: NodeJS.WritableStream): Steps {
  const line = (text: string) => void output.write(`${text}\n`)
  return {
    line,
    step: async (title, work) => {
      const startedMs = performance.now()
      const seconds = () => `${Math.round((performance.now() - startedMs) / 1000)} s`
      const first = setTimeout(() => line(`${title} …`), quietMs)
      const more = setInterval(() => line(`${title} … ${seconds()}`), plainLineEveryMs)
      try {
        const result = await work()
        if (performance.now() - startedMs > quietMs) line(`${title}: done in ${seconds()}`)
        return result
      } finally {
        clearTimeout(first)
        clearInterval(more)
      }
    },
  }
}
