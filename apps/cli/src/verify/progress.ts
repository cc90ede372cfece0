import { bytesText } from '../clean/bytes-text.ts'

const everyMs = 5_000

export interface ProgressInput {
  readonly line: (text: string) => void
  /** Milliseconds on a clock that never goes back. */
  readonly nowMs: () => number
}

/** Says every five seconds how far a long check has come. */
export function progressLines({ line, nowMs }: ProgressInput): (progress: { readonly attempts: number; readonly of: number; readonly bytes: number }) => void {
  let lastMs = nowMs()
  return ({ attempts, of, bytes }) => {
    if (nowMs() - lastMs < everyMs) return
    lastMs = nowMs()
    line(`checked ${attempts} of ${of} attempts, ${bytesText(bytes)}`)
  }
}
