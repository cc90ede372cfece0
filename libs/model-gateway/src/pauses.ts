import type { IncomingHttpHeaders } from 'node:http'
import type { GatewayTimings } from './gateway-options.ts'

export interface PauseQuestion {
  /** Tries that failed so far, from 1. */
  readonly failures: number
  readonly headers: IncomingHttpHeaders
  readonly timings: GatewayTimings
  readonly random: () => number
  readonly nowMs: number
}

/** Pause before the next try in milliseconds: what the endpoint asked for, or exponential with the upper half left to chance. */
export function pauseMs({ failures, headers, timings, random, nowMs }: PauseQuestion): number {
  const asked = retryAfterMs(headers, nowMs)
  if (asked !== undefined) return Math.min(asked, timings.longestRetryAfterMs)
  const full = Math.min(timings.backOffMs * 2 ** (failures - 1), timings.longestBackOffMs)
  return full * (0.5 + random() / 2)
}

/** `retry-after-ms`, or `retry-after` in seconds or as a date. */
function retryAfterMs(headers: IncomingHttpHeaders, nowMs: number): number | undefined {
  const inMs = numberOf(headers['retry-after-ms'])
  if (inMs !== undefined) return inMs
  const seconds = numberOf(headers['retry-after'])
  if (seconds !== undefined) return seconds * 1_000
  const text = headers['retry-after'] ?? ''
  // JavaScript would read a bare number as a year.
  const date = /[a-z]/i.test(text) ? Date.parse(text) : Number.NaN
  return Number.isNaN(date) ? undefined : Math.max(0, date - nowMs)
}

function numberOf(header: string | string[] | undefined): number | undefined {
  const text = (Array.isArray(header) ? header[0] : header)?.trim() ?? ''
  return /^\d+(\.\d+)?$/.test(text) ? Number(text) : undefined
}
