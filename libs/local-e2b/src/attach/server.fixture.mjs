// A stand-in for the server program: `server.fixture.mjs <data folder> <behaviour>`.
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { createInterface } from 'node:readline'

const [dataFolder, behaviour] = process.argv.slice(2)
const serverFile = `${dataFolder}/server.json`
const lockFile = `${dataFolder}/server.lock`
const say = (line) => process.stdout.write(`${line}\n`)

function startOf(pid) {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19]
}

function lock(pid) {
  writeFileSync(lockFile, JSON.stringify({ pid, pid_start: startOf(pid) }))
}

function giveUp() {
  process.stderr.write('the data folder is locked\n')
  process.exit(2)
}

let isClosing = false
const server = createServer((_request, response) => {
  response.writeHead(isClosing ? 503 : 200).end()
  if (isClosing) say('asked')
})

function serve() {
  server.listen(0, '127.0.0.1', () => {
    const url = `http://127.0.0.1:${server.address().port}`
    writeFileSync(serverFile, JSON.stringify({ schema_version: 1, url, api_key: `e2b_${'0'.repeat(40)}`, pid: process.pid, pid_start: startOf(process.pid) }))
    process.stderr.write(`environment: ${Object.keys(process.env).join(',')}\n`)
    if (behaviour !== 'silent') say(JSON.stringify({ type: 'ready', url, server_file: serverFile }))
  })
}

function end() {
  rmSync(serverFile, { force: true })
  rmSync(lockFile, { force: true })
  process.exit(0)
}

if (behaviour === 'fail') giveUp()
if (behaviour.startsWith('lose to ')) {
  // Another server is quicker.
  lock(Number(behaviour.slice(8)))
  giveUp()
}
if (existsSync(lockFile)) giveUp()
lock(process.pid)
if (behaviour === 'stubborn') process.on('SIGTERM', () => {})
if (behaviour === 'rival') {
  const orders = { serve, closing: () => (isClosing = true), end }
  createInterface({ input: process.stdin }).on('line', (line) => orders[line]())
  say('locked')
} else {
  serve()
  process.stdin.resume()
  process.stdin.on('end', () => behaviour === 'stubborn' || end())
}
