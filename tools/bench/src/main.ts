import { benchDesktop } from './desktop.ts'
import { describe, type Figure, summarise } from './figures.ts'
import { benchImport } from './import.ts'
import { benchStart } from './start.ts'

const benches: Readonly<Record<string, () => Promise<readonly Figure[]>>> = { import: benchImport, desktop: benchDesktop, start: benchStart }

const isJson = process.argv.includes('--json')
const asked = process.argv.slice(2).filter((argument) => argument !== '--json')
const unknown = asked.filter((name) => !(name in benches))
if (unknown.length > 0) {
  process.stderr.write(`There is no bench ${unknown.join(', ')}; there are ${Object.keys(benches).join(', ')}.\n`)
  process.exit(2)
}

for (const name of asked.length === 0 ? Object.keys(benches) : asked) {
  for (const figure of (await benches[name]?.()) ?? []) {
    const summary = summarise(figure)
    process.stdout.write(`${isJson ? JSON.stringify({ bench: name, ...summary }) : describe(summary)}\n`)
  }
}
