// A stand-in for the server program: `server.fixture.mjs <data folder> <behaviour>`.
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'

const [dataFolder, behaviour] = process.argv.slice(2)
const serverFile = `${dataFolder}/server.json`

if (behaviour === 'fail') {
  process.stderr.write('the data folder is locked\n')
  process.exit(3)
}

const server = createServer((_request, response) => response.end('ok'))
server.listen(0, '127.0.0.1', () => {
  const url = `http://127.0.0.1:${server.address().port}`
  const stat = readFileSync('/proc/self/stat', 'utf8')
  const start = stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19]
  writeFileSync(serverFile, JSON.stringify({ schema_version: 1, url, api_key: `e2b_${'0'.repeat(40)}`, pid: process.pid, pid_start: start }))
  process.stderr.write(`environment: ${Object.keys(process.env).join(',')}\n`)
  if (behaviour !== 'silent') process.stdout.write(`${JSON.stringify({ type: 'ready', url, server_file: serverFile })}\n`)
})

if (behaviour === 'stubborn') process.on('SIGTERM', () => {})
process.stdin.resume()
process.stdin.on('end', () => {
  if (behaviour === 'stubborn') return
  rmSync(serverFile)
  process.exit(0)
})
