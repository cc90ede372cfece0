import { type Html, html } from './html.ts'

/** Four decimals, as the command line prints scores; a ratio of nothing is none. */
export function ratio(value: number | null): string {
  return value === null ? 'none' : value.toFixed(4)
}

/** `1 task`, `2 tasks`. */
export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}

/** Such as `42 s`, `12 min` or `3 h 20 min`. */
export function duration(seconds: number): string {
  if (seconds < 120) return `${seconds.toFixed(0)} s`
  const minutes = Math.round(seconds / 60)
  return minutes < 120 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`
}

/** An RFC 3339 time in UTC, to the minute. */
export function moment(timestamp: string): Html {
  return html`<time datetime="${timestamp}">${timestamp.slice(0, 10)} ${timestamp.slice(11, 16)} UTC</time>`
}
