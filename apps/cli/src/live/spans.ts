import { cut, displayWidth } from './one-line.ts'
import type { Paint, Tint } from './paint.ts'

export interface Span {
  readonly text: string
  readonly tint?: Tint
}
export type Line = readonly Span[]

/** The line in at most `width` columns; colours are put on after the cut, so that none is left open. */
export function printLine(line: Line, width: number, paint: Paint): string {
  let left = width
  let printed = ''
  for (const { text, tint } of line) {
    const shown = cut(text, left)
    printed += tint === undefined || shown === '' ? shown : paint(shown, tint)
    left -= displayWidth(shown)
    if (shown !== text) break
  }
  return printed
}

const separator = ' · '

/** Parts side by side with a dot between, on as many lines as they need. */
export function flow(parts: readonly Span[], width: number): readonly Line[] {
  const lines: Span[][] = []
  let used = 0
  for (const part of parts) {
    const needed = displayWidth(part.text)
    const last = lines.at(-1)
    if (last === undefined || used + separator.length + needed > width) {
      lines.push([part])
      used = needed
    } else {
      last.push({ text: separator, tint: 'dim' }, part)
      used += separator.length + needed
    }
  }
  return lines
}
