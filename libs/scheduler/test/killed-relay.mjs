// A relay whose sandbox is a file, named after its process. Argument: folder of the sandboxes.
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'

const [folder] = process.argv.slice(2)
const name = String(process.pid)
const sandbox = join(folder, name)
const say = (message) => process.stdout.write(`${JSON.stringify(message)}\n`)
// The coordinator that reads it may be gone.
process.stdout.on('error', () => undefined)

createInterface({ input: process.stdin })
  .on('line', (line) => {
    const { type, id } = JSON.parse(line)
    if (type === 'configure') return say({ type: 'listening', ports: { server: 1, cdp: 2, vnc: 3, vlc: 4 } })
    if (type === 'start') writeFileSync(sandbox, '')
    say({ type: 'reply', id, ok: true, ...(type === 'start' ? { sandbox_id: name, generation: 1 } : {}) })
  })
  .on('close', () => {
    rmSync(sandbox, { force: true })
    say({ type: 'stopped', cleanup: 'success' })
  })
