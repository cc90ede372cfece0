import { setTimeout as delay } from 'node:timers/promises'

/** Polls a condition; a deadline turns a hang into a failure that says what was waited for. */
export async function until(what: string, holds: () => boolean | Promise<boolean>, deadlineMs = 20_000): Promise<void> {
  const end = Date.now() + deadlineMs
  while (!(await holds())) {
    if (Date.now() > end) throw new Error(`waited ${deadlineMs} ms for ${what}`)
    await delay(20)
  }
}
