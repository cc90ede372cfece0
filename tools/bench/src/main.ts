import { benchCampaign } from './campaign.ts'
import { benchCoordinator } from './coordinator.ts'
import { runCoordinator } from './coordinator-process.ts'
import { benchDesktop } from './desktop.ts'
import { describe, type Figure, summarise } from './figures.ts'
import { benchImport } from './import.ts'
import { benchStart } from './start.ts'
import { parseArgs } from 'node:util'

// With `--coordinator-process FOLDER` this program is the one that the bench `coordinator` measures.
const options = { json: { type: 'boolean' }, tasks: { type: 'string' }, 'coordinator-process': { type: 'string' } } as const
// `campaign` takes some half an hour on the whole suite; `--tasks 4` measures its first four tasks.
const { values, positionals: asked } = parseArgs({ allowPositionals: true, options })
const tasks = values.tasks === undefined ? undefined : Number(values.tasks)
const benches: Readonly<Record<string, () => Promise<readonly Figure[]>>> = {
  import: benchImport,
  desktop: benchDesktop,
  start: benchStart,
  campaign: () => benchCampaign(tasks),
  coordinator: benchCoordinator,
}
if (tasks !== undefined && !(Number.isInteger(tasks) && tasks > 0)) {
  process.stderr.write(`--tasks ${values.tasks} is not a whole number from 1; it says how many tasks of the suite the bench campaign takes.\n`)
  process.exit(2)
}
const isJson = values.json === true
const unknown = asked.filter((name) => !(name in benches))
if (unknown.length > 0) {
  process.stderr.write(`There is no bench ${unknown.join(', ')}; there are ${Object.keys(benches).join(', ')}.\n`)
  process.exit(2)
}

async function runBenches(names: readonly string[]): Promise<void> {
  for (const name of names) {
    for (const figure of (await benches[name]?.()) ?? []) {
      const summary = summarise(figure)
      process.stdout.write(`${isJson ? JSON.stringify({ bench: name, ...summary }) : describe(summary)}\n`)
    }
  }
}

const folder = values['coordinator-process']
if (folder !== undefined) process.stdout.write(JSON.stringify(await runCoordinator(folder)))
else await runBenches(asked.length === 0 ? Object.keys(benches).filter((name) => name !== 'campaign') : asked)
