import { createLogUpdate } from 'log-update'
import type { CampaignEvent } from '@osworld-e2b/scheduler'
import { eventText } from './event-text.ts'
import type { Paint } from './paint.ts'
import { renderView } from './render-view.ts'
import type { View, Viewed } from './view.ts'

/** A stream that may be a terminal. */
export type TerminalStream = NodeJS.WritableStream & { readonly isTTY?: boolean; readonly columns?: number; readonly rows?: number }

export interface TerminalViewOptions extends Viewed {
  readonly output: TerminalStream
  readonly paint: Paint
  /** Starts and phases as lines of their own too. */
  readonly verbose: boolean
}

const redrawMs = 250

/** A block that is redrawn in place; what has ended stays above it in the terminal's scroll-back. */
export function terminalView({ output, paint, verbose, status, nowMs }: TerminalViewOptions): View {
  const block = createLogUpdate(output)
  let above: string[] = []
  const draw = (events: number) => {
    for (const text of above) block.persist(text)
    above = []
    block(renderView(status(), { ...terminalSize(output), nowMs: nowMs(), paint, events }))
  }
  const timer = setInterval(() => draw(3), redrawMs)
  timer.unref()
  let isOver = false
  const leave = (last: () => void) => {
    clearInterval(timer)
    if (isOver) return
    isOver = true
    last()
    // Also shows the cursor again.
    block.done()
  }
  return {
    take: (event) => {
      const text = isKept(event, verbose) ? eventText(event) : undefined
      if (text !== undefined) above.push(text)
    },
    line: (text) => void above.push(text),
    end: () => leave(() => draw(0)),
    dispose: () => leave(() => {
      block.clear()
      for (const text of above) block.persist(text)
    }),
  }
}

export function terminalSize({ columns, rows }: TerminalStream): { readonly columns: number; readonly rows: number } {
  return { columns: columns ?? 80, rows: rows ?? 24 }
}

function isKept({ type }: CampaignEvent, verbose: boolean): boolean {
  return verbose || (type !== 'attempt_started' && type !== 'attempt_phase')
}
