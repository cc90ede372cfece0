import type { PriceTable } from '@osworld-e2b/contracts'
import type { Secret } from '@osworld-e2b/redaction'

/** A place that serves the model. */
export interface GatewayEndpoint {
  /** The only name by which it is spoken of. */
  readonly label: string
  /** Base URL as the model's clients take it: with `/v1` for OpenAI's, without for Anthropic's. */
  readonly url: string
  readonly apiKey?: Secret
  /** Tries that may be under way at once; the others wait in their order. */
  readonly maxConcurrentRequests?: number
}

export interface GatewayTimings {
  /** Pause before the second try; it doubles with each one. */
  readonly backOffMs: number
  readonly longestBackOffMs: number
  /** What an endpoint asks for beyond this is cut to it. */
  readonly longestRetryAfterMs: number
  readonly connectMs: number
  /** From sending a request to the first byte of its answer. */
  readonly firstByteMs: number
  /** After so long without a byte an agent that gives a call up does so because of the silence. */
  readonly silenceMs: number
  /** Between two pieces of an answer. */
  readonly stallMs: number
  /** From going out to the first probe; it doubles while probes fail. */
  readonly coolDownMs: number
  readonly longestCoolDownMs: number
  readonly probeMs: number
  /** How long one try waits while no endpoint may be asked. */
  readonly outageMs: number
}

export const defaultTimings: GatewayTimings = {
  backOffMs: 500,
  longestBackOffMs: 30_000,
  longestRetryAfterMs: 60_000,
  connectMs: 10_000,
  firstByteMs: 600_000,
  silenceMs: 60_000,
  stallMs: 300_000,
  coolDownMs: 5_000,
  longestCoolDownMs: 60_000,
  probeMs: 10_000,
  outageMs: 300_000,
}

export const defaultFailuresUntilOut = 5

/** Requests and answers larger than this are refused; an agent's screenshots stay far below. */
export const maxBodyBytes = 64 * 1024 * 1024

/** Calls of one attempt that are served at once; the others wait in their order. */
export const maxCallsInFlight = 16

export interface GatewayOptions {
  readonly endpoints: readonly GatewayEndpoint[]
  /** Tries of one call, the first included. */
  readonly callAttempts: number
  /** Requests sent to endpoints, tries included, over all starts of the run. */
  readonly requestCap?: number
  /** Requests that earlier starts of the run have sent. */
  readonly requestsBefore: number
  readonly prices: PriceTable
  /** Whether `model-calls.jsonl` keeps what was asked and answered. */
  readonly keepContent: boolean
  readonly timings?: Partial<GatewayTimings>
  /** Failures in a row after which an endpoint is not asked for a while. */
  readonly failuresUntilOut?: number
  /** From 0 to below 1; spreads the pauses. */
  readonly random?: () => number
}
