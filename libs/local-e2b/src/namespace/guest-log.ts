import type { ChildProcess } from 'node:child_process'
import { createWriteStream } from 'node:fs'

export interface GuestLog {
  /** The last part of what the guest's pid 1 and agent wrote. */
  text(): string
}

const keptInMemory = 8 * 1024
/** A guest can write to its log for ever; the host's disk must not fill. */
const keptOnDisk = 1024 * 1024

/** Writes the outputs of a sandbox's first process to a file, up to 1 MiB, and keeps their end in memory. */
export function keepGuestLog(child: ChildProcess, file: string): GuestLog {
  const sink = createWriteStream(file, { mode: 0o600 })
  let written = 0
  let tail = ''
  // The sandbox's folder may be removed before the last line was written.
  sink.on('error', () => sink.destroy())
  for (const output of [child.stdout, child.stderr]) {
    output?.on('data', (chunk: Buffer) => {
      tail = (tail + chunk.toString()).slice(-keptInMemory)
      if (written < keptOnDisk) sink.write(chunk)
      written += chunk.length
    })
  }
  child.once('close', () => sink.end())
  return { text: () => tail }
}
