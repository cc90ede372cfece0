import { readFile } from 'node:fs/promises'
import { availableParallelism, release, totalmem, type } from 'node:os'
import { findPython } from '@osworld-e2b/upstream'
import type { ProofRecord } from './record.ts'

/** What a reader needs to weigh the figures; nothing that tells whose machine it is. */
export async function readMachine(environment: NodeJS.ProcessEnv): Promise<ProofRecord['machine']> {
  return {
    cores: availableParallelism(),
    memory_gib: Math.round((totalmem() / 1024 ** 3) * 10) / 10,
    os: osName(await readFile('/etc/os-release', 'utf8').catch(() => '')),
    kernel: release(),
    node: process.versions.node,
    python: (await findPython({ environment })).version,
  }
}

/** Name in the text of an `os-release` file (os-release(5)), else the kernel's. */
export function osName(osRelease: string): string {
  return /^PRETTY_NAME="?(.*?)"?$/m.exec(osRelease)?.[1] ?? type()
}
