#!/usr/bin/env node
import { existsSync } from 'node:fs'

const main = new URL('../dist/main.js', import.meta.url)
if (existsSync(main)) await import(main.href)
else {
  process.stderr.write('osworld is not compiled yet; run `npm start` once, or `npx nx run-many -t compile`.\n')
  process.exitCode = 2
}
