import { once } from 'node:events'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { authorization } from '../src/agent-client/agent-request.ts'
import { dialPort, runInSandbox } from '../src/agent-client/index.ts'
import { bash, call, open, send, shell, type StreamMessage } from './support/agent-calls.ts'
import { openTestSandbox, whyNoSandbox, type TestSandbox } from './support/test-sandbox.ts'
import { until } from './support/until.ts'

const service = 'process.Process'

describe.skipIf(whyNoSandbox !== undefined)(`the agent's process service${whyNoSandbox === undefined ? '' : ` (skipped: ${whyNoSandbox})`}`, () => {
  let sandbox: TestSandbox
  let socket: string
  beforeAll(async () => {
    sandbox = await openTestSandbox({ user: 'alice', workdir: '/srv', environment: { FROM_TEMPLATE: 'template', BOTH: 'template' } })
    socket = sandbox.agentSocket
    await bash(socket, 'useradd --create-home --groups audio,video --shell /bin/bash alice', { user: 'root', cwd: '/' })
  }, 300_000)
  afterAll(async () => { await sandbox.close() })

  it('keeps arguments, output and exit code exactly', async () => {
    // How output is cut into chunks is nobody's promise.
    const said = { stdout: '', stderr: '' }
    const command = ['/bin/bash', '-c', 'printf "%s|" "$@"; printf err >&2; exit 7', 'name', 'two\nlines', '', ' "$x" '] as const
    const { exitCode, status } = await runInSandbox({ agentSocket: socket, command, onOutput: (stream, chunk) => { said[stream] += chunk.toString() } })
    expect({ exitCode, status, said }).toEqual({ exitCode: 7, status: 'exit status 7', said: { stdout: 'two\nlines|| "$x" |', stderr: 'err' } })
  })

  it('runs as the default account with all its groups, its home and umask 022', async () => {
    const { stdout } = await bash(socket, 'id -un; id -Gn; echo $HOME $USER $LOGNAME; umask; pwd; ps -o ppid= $$ | tr -d " " | xargs ps -o comm= -p')
    const [user, groups, home, mask, folder] = stdout.split('\n')
    expect({ user, groups: groups?.split(' ').sort(), home, mask, folder }).toEqual({ user: 'alice', groups: ['alice', 'audio', 'video'], home: '/home/alice alice alice', mask: '0022', folder: '/srv' })
  })

  it('runs as another account in its home, and names an unknown one', async () => {
    expect((await bash(socket, 'id -un; pwd', { user: 'root' })).stdout).toBe('root\n/root\n')
    await expect(bash(socket, 'true', { user: 'nobody2' })).rejects.toThrow("unauthenticated: invalid username: 'nobody2'")
  })

  it('lets a command change its own account by sudo-like programs only when it is root', async () => {
    expect((await bash(socket, 'grep ^Groups /proc/self/status; setpriv --reuid 0 true')).exitCode).not.toBe(0)
    expect((await bash(socket, 'setpriv --reuid 1 --clear-groups id -u', { user: 'root' })).stdout).toBe('1\n')
  })

  it('puts a command\'s environment over the template\'s and leaks neither', async () => {
    expect((await bash(socket, 'echo $FROM_TEMPLATE $BOTH $OWN', { environment: { BOTH: 'command', OWN: 'own' } })).stdout).toBe('template command own\n')
    expect((await bash(socket, 'echo $BOTH $OWN; env | grep LOCAL_E2B')).stdout).toBe('template\n')
  })

  it('refuses a folder or a program that does not exist', async () => {
    await expect(bash(socket, 'true', { cwd: '/absent' })).rejects.toThrow("invalid_argument: cwd '/absent' does not exist")
    await expect(runInSandbox({ agentSocket: socket, command: ['absent-program'] })).rejects.toThrow('absent-program: no such program')
  })

  it('gives commands pipes that they may open again by name', async () => {
    expect(await bash(socket, 'echo out > /dev/stdout; echo err > /dev/stderr; echo more | tee /dev/stderr')).toEqual({ exitCode: 0, stdout: 'out\nmore\n', stderr: 'err\nmore\n' })
  })

  it('carries much output whole to a slow reader', async () => {
    let length = 0
    const stream = await open(socket, `${service}/Start`, shell('head -c 20000000 /dev/zero'))
    for (let message = await stream.next(); message !== undefined; message = await stream.next()) {
      length += Buffer.from(message.event?.data?.stdout ?? '', 'base64').length
      if (length < 1_000_000) await new Promise((resolve) => { setImmediate(resolve) })
    }
    expect(length).toBe(20_000_000)
  })

  it('kills a command at its time limit', async () => {
    const stream = await open(socket, `${service}/Start`, shell('exec sleep 1000'), { 'connect-timeout-ms': '300' })
    const pid = (await stream.next())?.event?.start?.pid ?? 0
    expect(await stream.rest()).toMatchObject([{ error: { code: 'deadline_exceeded' } }])
    await until('the end of the command', async () => (await bash(socket, `kill -0 ${pid}`)).exitCode !== 0)
  })

  it('leaves a command running when its caller goes, and lets another connect', async () => {
    const stream = await open(socket, `${service}/Start`, shell('read line; echo "got $line"; exit 4', { stdin: true, tag: 'kept' }))
    const pid = (await stream.next())?.event?.start?.pid
    stream.leave()
    const second = await open(socket, `${service}/Connect`, { process: { tag: 'kept' } })
    expect((await second.next())?.event?.start?.pid).toBe(pid)
    const { reply } = await call(socket, `${service}/List`, {})
    expect(reply.processes).toContainEqual({ pid, tag: 'kept', config: { cmd: '/bin/bash', args: ['-c', 'read line; echo "got $line"; exit 4'], envs: {} } })
    await call(socket, `${service}/SendInput`, { process: { pid }, input: { stdin: Buffer.from('hello\n').toString('base64') } })
    expect(outputOf(await second.rest())).toEqual({ stdout: 'got hello\n', exitCode: 4 })
    const late = await open(socket, `${service}/Connect`, { process: { pid } })
    expect((await late.rest()).at(-2)).toMatchObject({ event: { end: { exitCode: 4 } } })
    expect((await call(socket, `${service}/List`, {})).reply.processes).not.toContainEqual(expect.objectContaining({ pid }))
  })

  it('ends the input of a command that reads to its end', async () => {
    const stream = await open(socket, `${service}/Start`, shell('cat', { stdin: true }))
    const pid = (await stream.next())?.event?.start?.pid
    await call(socket, `${service}/SendInput`, { process: { pid }, input: { stdin: Buffer.from([0, 255, 10]).toString('base64') } })
    await call(socket, `${service}/CloseStdin`, { process: { pid } })
    const messages = await stream.rest()
    expect(Buffer.concat(messages.map(({ event }) => Buffer.from(event?.data?.stdout ?? '', 'base64')))).toEqual(Buffer.from([0, 255, 10]))
    expect(outputOf(messages).exitCode).toBe(0)
  })

  it('gives a command without input an empty one', async () => {
    expect((await bash(socket, 'cat; echo done')).stdout).toBe('done\n')
  })

  it('answers SIGKILL once the process is reaped', async () => {
    const stream = await open(socket, `${service}/Start`, shell('exec sleep 1000'))
    const pid = (await stream.next())?.event?.start?.pid ?? 0
    expect(await call(socket, `${service}/SendSignal`, { process: { pid }, signal: 'SIGNAL_SIGKILL' })).toEqual({ status: 200, reply: {} })
    expect((await bash(socket, `kill -0 ${pid}`, { user: 'root' })).exitCode).toBe(1)
    expect((await stream.rest())[0]).toEqual({ event: { end: { exitCode: -1, exited: false, status: 'signal: SIGKILL', error: 'signal: SIGKILL' } } })
  })

  it('answers for an unknown process, signal or method by the code of each', async () => {
    const unknown = { process: { pid: 999_999 } }
    expect(await call(socket, `${service}/SendSignal`, { ...unknown, signal: 'SIGNAL_SIGKILL' })).toMatchObject({ status: 404, reply: { code: 'not_found' } })
    expect(await (await open(socket, `${service}/Connect`, unknown)).rest()).toMatchObject([{ error: { code: 'not_found' } }])
    expect(await call(socket, `${service}/Update`, unknown)).toMatchObject({ status: 501, reply: { code: 'unimplemented' } })
    expect(await (await open(socket, `${service}/Start`, shell('true', { pty: { size: { cols: 80, rows: 24 } } }))).rest()).toMatchObject([{ error: { code: 'unimplemented' } }])
    expect((await send(socket, { method: 'POST', path: `/${service}/List`, body: '{' })).status).toBe(400)
  })

  it('ends only when the outputs have ended too', async () => {
    const { stdout } = await bash(socket, '(until [ -e /tmp/go ]; do sleep 0.05; done; echo late) & touch /tmp/go; echo early')
    expect(stdout).toBe('early\nlate\n')
  })

  it('sends a sign of life as often as a silent caller asks', async () => {
    const stream = await open(socket, `${service}/Start`, shell('exec sleep 1000'), { 'keepalive-ping-interval': '1' })
    await stream.next()
    expect(await stream.next()).toEqual({ event: { keepalive: {} } })
    stream.leave()
  })

  it('changes its defaults when the host says so', async () => {
    await send(socket, { method: 'POST', path: '/init', body: JSON.stringify({ environment: { ADDED: 'later' } }) })
    expect((await bash(socket, 'echo $FROM_TEMPLATE $ADDED')).stdout).toBe('template later\n')
  })

  it('joins a caller to a port of the guest, and says when it is closed', async () => {
    const server = await open(socket, `${service}/Start`, { process: { cmd: 'python3', args: ['-c', 'import socket\ns = socket.create_server(("127.0.0.1", 4567))\nprint("up", flush=True)\nc, _ = s.accept()\nwhile d := c.recv(9999): c.sendall(d.upper())\nc.sendall(b"!")'] } }, authorization('root'))
    while ((await server.next())?.event?.data === undefined);
    const connection = await dialPort(socket, 4567)
    connection.end('hello')
    let said = ''
    connection.on('data', (chunk: Buffer) => { said += chunk.toString() })
    await once(connection, 'end')
    expect(said).toBe('HELLO!')
    await expect(dialPort(socket, 4568)).rejects.toMatchObject({ code: 'port_closed' })
  })

  it('ends a command when the host no longer waits for it', async () => {
    const stop = new AbortController()
    const running = runInSandbox({ agentSocket: socket, command: ['sleep', '54321'], signal: stop.signal })
    await until('the command', async () => (await bash(socket, 'pgrep -f "sleep 5432[1]"')).exitCode === 0)
    stop.abort(new Error('enough'))
    await expect(running).rejects.toThrow('enough')
    expect((await bash(socket, 'pgrep -f "sleep 5432[1]"')).exitCode).toBe(1)
  })
})

function outputOf(messages: readonly StreamMessage[]): { stdout: string; exitCode: number | undefined } {
  const stdout = messages.map(({ event }) => Buffer.from(event?.data?.stdout ?? '', 'base64').toString()).join('')
  return { stdout, exitCode: messages.find(({ event }) => event?.end !== undefined)?.event?.end?.exitCode }
}
