import { setTimeout } from 'node:timers/promises'
import { paceText } from '../run/pace.ts'
import { createLogUpdate } from 'log-update'
import { type LookTextOptions, lookText } from './look-text.ts'
import type { RunLook } from './look-at-run.ts'
import { terminalSize, type TerminalStream } from './terminal-view.ts'

export interface FollowOptions {
  readonly look: () => Promise<RunLook>
  /** Called with each look; the last one is of a run that nobody runs any more. */
  readonly show: (look: RunLook) => void
  readonly everyMs: number
}

/** Looks again and again until nobody runs it any more. */
export async function followRun({ look, show, everyMs }: FollowOptions): Promise<void> {
  for (;;) {
    const seen = await look()
    show(seen)
    if (seen.owner.standing === 'gone' || seen.owner.standing === 'none') return
    await setTimeout(everyMs)
  }
}

export interface Shown {
  show(look: RunLook): void
  end(): void
}

type TextOptions = Omit<LookTextOptions, 'columns' | 'rows' | 'nowMs'> & { readonly nowMs: () => number }

/** In place on a terminal. */
export function shownInPlace(output: TerminalStream, options: TextOptions): Shown {
  const block = createLogUpdate(output)
  return {
    show: (look) => block(lookText(look, { ...options, ...terminalSize(output), nowMs: options.nowMs() })),
    end: () => block.done(),
  }
}

/** As lines elsewhere: what happened since the last look, how far the run is when that changed, and the whole look at the end. */
export function shownAsLines(output: NodeJS.WritableStream, options: TextOptions): Shown {
  let last: RunLook | undefined
  let lastPace = ''
  let lastEvent = ''
  return {
    show: (look) => {
      last = look
      const pace = paceText({ ...look.status, per_minute: null, eta_seconds: null })
      const keyOf = ({ at, text }: { readonly at: string; readonly text: string }) => `${at} ${text}`
      const keys = look.status.events.map(keyOf)
      for (const line of keys.slice(keys.indexOf(lastEvent) + 1)) output.write(`${line}\n`)
      lastEvent = keys.at(-1) ?? lastEvent
      if (pace !== lastPace) output.write(`${paceText(look.status)}\n`)
      lastPace = pace
    },
    end: () => {
      if (last !== undefined) output.write(`${lookText(last, { ...options, ...terminalSize(output), nowMs: options.nowMs() })}\n`)
    },
  }
}

/** As JSON lines, one when something changed. */
export function shownAsJson(output: NodeJS.WritableStream): Shown {
  let last = ''
  return {
    show: (look) => {
      const line = JSON.stringify(statusJson(look))
      if (line !== last) output.write(`${line}\n`)
      last = line
    },
    end: () => undefined,
  }
}

/** The status document and its `owner`. */
export function statusJson({ status, owner }: RunLook): Readonly<Record<string, unknown>> {
  return { ...status, owner: { standing: owner.standing, host: owner.lock?.host ?? null, pid: owner.lock?.pid ?? null } }
}
