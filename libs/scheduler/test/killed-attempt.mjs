// An attempt that is scored at once. Arguments: its control socket, its reward.
import { connect } from 'node:net'
import { createInterface } from 'node:readline'

const [path, reward] = process.argv.slice(2)
const socket = connect(path)
const say = (message) => socket.write(`${JSON.stringify(message)}\n`)
createInterface({ input: socket }).on('line', () => {
  say({ type: 'phase', phase: 'evaluate' })
  say({ type: 'finished', outcome: 'valid', reward: Number(reward), evaluator: {}, loaded_packages: [], adjustments_digest: 'a'.repeat(64), upstream: { name: 'desktop-env', version: '1.0.2' } })
  socket.end(() => process.exit(0))
})
socket.on('error', () => process.exit(1))
socket.on('close', () => process.exit(0))
say({ type: 'request', id: 1, method: 'start' })
