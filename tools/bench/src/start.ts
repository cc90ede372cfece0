import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { performance } from 'node:perf_hooks'
import { checkout } from './checkout.ts'
import type { Figure } from './figures.ts'

/**
 * `npm start` twice on a fresh clone with an empty cache folder of its own. System packages that this machine has
 * already, and npm's and pip's own download caches, are not counted.
 */
export function benchStart(): Promise<readonly Figure[]> {
  const folder = mkdtempSync(join(tmpdir(), 'osworld-start-'))
  try {
    const clone = join(folder, 'clone')
    run(['git', 'clone', '--quiet', checkout, clone], { cwd: folder, env: process.env })
    const start = () => timed(() => run(['npm', 'start'], { cwd: clone, env: { ...process.env, XDG_CACHE_HOME: join(folder, 'cache') } }))
    const first = start()
    const second = start()
    return Promise.resolve([
      { name: 'first npm start', unit: 'min', samples: [first / 60], target: 10 },
      { name: 'second npm start', unit: 'min', samples: [second / 60], target: 1 },
    ])
  } finally {
    // The template's files belong to mapped owners, whom an ordinary user reaches only through the same map.
    if (process.getuid?.() === 0) rmSync(folder, { recursive: true, force: true })
    else process.stderr.write(`Left for you to remove with \`unshare --map-auto --map-root-user rm -rf\`: ${folder}\n`)
  }
}

function timed(work: () => void): number {
  const startedMs = performance.now()
  work()
  return (performance.now() - startedMs) / 1000
}

function run([file = '', ...args]: readonly string[], { cwd, env }: { readonly cwd: string; readonly env: NodeJS.ProcessEnv }): void {
  const { status } = spawnSync(file, args, { cwd, env, stdio: ['ignore', process.stderr, process.stderr] })
  if (status !== 0) throw new Error(`${file} ${args.join(' ')} in ${cwd} ended with exit code ${status ?? 'none'}.`)
}
