import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { ensurePythonEnvironment, findPython } from '@osworld-e2b/upstream'
import { cacheFolder, checkout } from './checkout.ts'
import type { Figure } from './figures.ts'

const rounds = 5

/** Start of an attempt process up to the imported, unmodified upstream: seconds and resident memory. */
export async function benchImport(): Promise<readonly Figure[]> {
  const profileFolder = join(checkout, 'upstream-patches', 'profiles', 'package-1.0.2')
  const environment = await ensurePythonEnvironment({
    cacheFolder,
    python: await findPython({ environment: process.env }),
    requirementsFile: join(profileFolder, 'requirements.txt'),
    environment: process.env,
  })
  const reports = Array.from({ length: rounds }, () => inspect(environment.python, profileFolder))
  return [
    { name: 'import of upstream, lazy', unit: 's', samples: reports.map((report) => report.import_seconds) },
    { name: 'memory after it', unit: 'MiB', samples: reports.map((report) => report.rss_mib) },
    { name: 'heavy packages loaded', unit: 'packages', samples: reports.map((report) => report.heavy_packages_loaded.length), target: 1 },
  ]
}

interface InspectReport {
  readonly import_seconds: number
  readonly rss_mib: number
  readonly heavy_packages_loaded: readonly string[]
}

function inspect(python: string, profileFolder: string): InspectReport {
  const adapter = join(checkout, 'upstream-patches', 'adapter', 'src')
  const text = execFileSync(python, ['-m', 'osworld_adapter.inspect', '--profile-dir', profileFolder], {
    env: { PATH: '/usr/bin:/bin', PYTHONPATH: adapter, PYTHONDONTWRITEBYTECODE: '1' },
    encoding: 'utf8',
  })
  return JSON.parse(text) as InspectReport
}
