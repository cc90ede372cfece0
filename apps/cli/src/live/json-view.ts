import type { View } from './view.ts'

export interface JsonLines extends View {
  write(value: Readonly<Record<string, unknown>>): void
}

/** One JSON line an event on standard output, for programs; each has the `timestamp` of its writing. */
export function jsonView(output: NodeJS.WritableStream, now: () => Date): JsonLines {
  const write = (value: Readonly<Record<string, unknown>>) => void output.write(`${JSON.stringify({ ...value, timestamp: now().toISOString() })}\n`)
  return {
    write,
    take: (event) => write({ ...event }),
    line: (text) => write({ type: 'line', text }),
    end: () => undefined,
    dispose: () => undefined,
  }
}
