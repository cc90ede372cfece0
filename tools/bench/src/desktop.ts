import { join } from 'node:path'
import { performance } from 'node:perf_hooks'
import type { TemplateRef } from '@osworld-e2b/contracts'
import { attachLocalE2b } from '@osworld-e2b/local-e2b'
import { connectSandboxes, type Sandboxes, waitForDesktop } from '@osworld-e2b/sandbox'
import { findTemplate, loadRecipe } from '@osworld-e2b/template'
import { cacheFolder, checkout } from './checkout.ts'
import type { Figure } from './figures.ts'

const rounds = 7

/** From the create call to the complete desktop (server, icons, still frame), and the kill, one at a time. */
export async function benchDesktop(): Promise<readonly Figure[]> {
  const dataFolder = join(cacheFolder, 'local-e2b')
  const server = await attachLocalE2b({
    dataFolder,
    serverCommand: [process.execPath, join(checkout, 'apps', 'local-e2b-bin', 'dist', 'main.js'), 'serve', '--data', dataFolder, '--die-with-parent'],
    environment: { PATH: process.env.PATH ?? '' },
  })
  try {
    const recipe = await loadRecipe(join(checkout, 'libs', 'template'), 'debian-12')
    const template = await findTemplate({ recipe, connection: server.connection })
    if (template === undefined) throw new Error('The desktop template is not built yet; run `npm start` once.')
    const sandboxes = connectSandboxes(server.connection)
    const samples = []
    for (let round = 0; round < rounds; round += 1) samples.push(await oneDesktop(sandboxes, template))
    return [
      { name: 'create to usable sandbox', unit: 's', samples: samples.map(({ created }) => created) },
      { name: 'create to complete desktop', unit: 's', samples: samples.map(({ complete }) => complete), target: 4 },
      { name: 'kill, verified', unit: 's', samples: samples.map(({ killed }) => killed) },
    ]
  } finally {
    await server.close()
  }
}

async function oneDesktop(sandboxes: Sandboxes, template: TemplateRef) {
  const startedMs = performance.now()
  const seconds = () => (performance.now() - startedMs) / 1000
  const lease = await sandboxes.create({ template, metadata: { workload: 'osworld-e2b-bench' }, timeoutSeconds: 300 })
  try {
    const created = seconds()
    await waitForDesktop(lease.endpoint(5000), {
      deadlineMs: 120_000,
      signal: new AbortController().signal,
      isAlive: () => lease.verify(),
      screen: { width: 1920, height: 1080 },
    })
    const complete = seconds()
    await lease.kill()
    return { created, complete, killed: seconds() - complete }
  } finally {
    await lease.kill()
  }
}
