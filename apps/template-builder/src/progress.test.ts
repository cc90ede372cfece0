import { beforeEach, describe, expect, test } from 'vitest'
import { printProgress, type ProgressPrinter } from './progress.ts'

let written: string[]
let nowMs: number
let tick: () => void
let isTicking: boolean

beforeEach(() => {
  written = []
  nowMs = 0
})

function printer(more: { isTTY?: boolean; verbose?: boolean } = {}): ProgressPrinter {
  return printProgress({
    stream: { isTTY: more.isTTY ?? false, write: (text) => written.push(text) },
    verbose: more.verbose ?? false,
    now: () => nowMs,
    every: (_periodMs, call) => {
      tick = call
      isTicking = true
      return () => {
        isTicking = false
      }
    },
  })
}

describe('progress outside a terminal', () => {
  test('tells each step, and the time of those over two seconds', () => {
    const progress = printer()
    progress.build({ kind: 'step', index: 0, total: 2, name: 'base system' })
    nowMs = 61_000
    progress.build({ kind: 'step', index: 1, total: 2, name: 'start command' })
    nowMs = 62_900
    progress.end()
    expect(written.join('')).toBe('[1/2] base system\n[1/2] base system: 1 min 1 s\n[2/2] start command\n')
  })

  test('says now and then that a long step goes on, and nothing between steps', () => {
    const progress = printer()
    tick()
    progress.step('waiting')
    nowMs = 3_000
    tick()
    nowMs = 15_000
    tick()
    progress.end()
    expect(written.slice(0, 2).join('')).toBe('waiting\nwaiting: going on after 15 s\n')
    expect(isTicking).toBe(false)
  })

  test.each([
    [false, ['bad']],
    [true, ['fine', 'bad']],
  ])('with verbose %s shows the log lines %s', (verbose, shown) => {
    const progress = printer({ verbose })
    progress.build({ kind: 'log', level: 'info', message: 'fine\n' })
    progress.build({ kind: 'log', level: 'error', message: 'bad' })
    progress.end()
    expect(written.map((line) => line.trim())).toEqual(shown)
  })
})

describe('progress on a terminal', () => {
  test('keeps one line that counts, and leaves the result of each step above it', () => {
    const progress = printer({ isTTY: true })
    progress.step('first')
    nowMs = 3_000
    tick()
    progress.step('second')
    progress.end()
    const screen = written.join('').split('\n').map((line) => line.split('\r\u001b[K').at(-1))
    expect(screen).toEqual(['first: 3 s', 'second', ''])
  })
})
