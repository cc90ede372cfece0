import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { access, chmod, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { createServer, type AddressInfo } from 'node:net'
import { homedir, tmpdir } from 'node:os'
import { join } from 'node:path'
import { execa } from 'execa'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { checkConfinement, findPython } from '../src/index.ts'
import { AttemptStand, processesInNamespace, readText, until } from './attempt-stand.ts'

let stand: AttemptStand

beforeAll(async () => {
  stand = await AttemptStand.open(await findPython({ environment: process.env }))
})
afterAll(() => stand.close())

/** Python that tries to read or write each path and prints which attempts succeeded. */
function tryAll(mode: 'read' | 'write', paths: readonly string[]): string {
  return `
import os
for path in ${JSON.stringify(paths)}:
    try:
        if os.path.isdir(path):
            os.listdir(path) if ${mode === 'read' ? 'True' : 'False'} else open(path + "/made-by-attempt", "w").close()
        else:
            open(path, ${mode === 'read' ? '"rb"' : '"ab"'}).close()
        print(path)
    except OSError:
        pass
`
}

describe('a confined attempt', () => {
  it('reads what it is shown and works in its own folder', async () => {
    const shown = ['adapter/adapter.py', 'profile/adjustments.json', 'suite/task.json'].map((path) => stand.path(path))
    expect(await stand.run(tryAll('read', shown))).toBe(shown.join('\n'))
    await stand.run('import os, ssl, sqlite3; assert os.getcwd() == os.environ["HOME"]; open("result.txt", "w").write("1.0")')
    expect(await readText(join(stand.attemptFolder, 'result.txt'))).toBe('1.0')
  })

  it('sees a renamed file under its other name alone', async () => {
    const renamedPaths = [{ from: stand.path('home/.ssh/id_ed25519'), to: '/secrets/key' }]
    const { file, args, cwd } = stand.command('print(open("/secrets/key").read())', {}, { renamedPaths })
    expect((await execa(file, args, { cwd, env: {}, extendEnv: false, stdin: 'ignore' })).stdout.length).toBeGreaterThan(0)
    expect(await stand.run(tryAll('read', [stand.path('home/.ssh/id_ed25519')]))).toBe('')
  })

  it('reads neither a sibling attempt nor the ledger, another task, a home folder or the secrets of the system', async () => {
    const hidden = [
      ...['runs/one/attempts.jsonl', 'runs/one/attempts/os/task/1.2/result.txt', 'runs/one/attempts/os/task/1.2', 'suite/other.json', 'home/.ssh/id_ed25519', 'home'].map((path) => stand.path(path)),
      ...['/etc/shadow', '/etc/ssl/private', '/etc/hostname', '/run', '/var', '/sys', '/proc/kcore', '/dev/mem', join(homedir(), '.bashrc')],
    ]
    expect(await stand.run(tryAll('read', hidden))).toBe('')
    expect(await stand.run(`import os; print(sorted(os.listdir(${JSON.stringify(stand.path('runs/one/attempts/os/task'))})))`)).toBe("['1.1']")
  })

  it('writes nowhere but in its folder and a private /tmp', async () => {
    const shown = ['adapter', 'adapter/adapter.py', 'profile', 'suite/task.json', 'environment', 'environment/bin'].map((path) => stand.path(path))
    const system = ['/', '/usr', '/usr/lib', '/etc', '/etc/passwd', '/home', '/proc/sys/kernel/core_pattern', '/proc/sysrq-trigger', stand.python.basePrefix]
    expect(await stand.run(tryAll('write', [...shown, ...system]))).toBe('')
    // The stand lies below /tmp, so empty folders that lead to it stand in the private /tmp; what is written there stays there.
    await stand.run(tryAll('write', [stand.root, stand.path('runs/one'), stand.path('runs/one/attempts/os/task')]))
    const after = await readdir(stand.root, { recursive: true })
    expect(after.filter((path) => path.includes('made-by-attempt'))).toEqual([])
    expect(await readText(stand.path('adapter/adapter.py'))).toBe('name = "adapter"\n')
    expect(await readText(stand.path('suite/task.json'))).toBe('{"id": "task"}')
    const name = `made-by-attempt-${process.pid}`
    await stand.run(`open("/tmp/${name}", "w").close()`)
    await expect(access(`/tmp/${name}`)).rejects.toMatchObject({ code: 'ENOENT' })
  })

  it('sees and signals no process but its own', async () => {
    const script = `
import os
print(sorted(int(name) for name in os.listdir("/proc") if name.isdigit() and int(name) != 1) == [os.getpid()])
for pid in (${process.pid}, ${process.ppid}):
    try:
        os.kill(pid, 0)
        print("signalled", pid)
    except ProcessLookupError:
        pass
`
    expect(await stand.run(script)).toBe('True')
  })

  it('has exactly the environment that it is given', async () => {
    const script = 'import json, os; print(json.dumps(dict(os.environ)))'
    const environment = JSON.parse(await stand.run(script, { PYTHONPATH: '/adapter', HOME: '/elsewhere', ODD: 'a b=ü\n"' })) as unknown
    expect(environment).toEqual({
      HOME: stand.attemptFolder,
      PWD: stand.attemptFolder,
      PATH: `${stand.path('environment/bin')}:/usr/bin:/bin`,
      LANG: 'C.UTF-8',
      TMPDIR: '/tmp',
      PYTHONPATH: '/adapter',
      ODD: 'a b=ü\n"',
    })
  })

  it('has no capability and cannot get one from a user namespace of its own', async () => {
    const script = `
import ctypes
print([line.split()[1] for line in open("/proc/self/status") if line.startswith(("CapPrm", "CapEff", "CapBnd"))])
print(ctypes.CDLL(None).unshare(0x10000000))
`
    const [capabilities, unshared] = (await stand.run(script)).split('\n')
    expect(capabilities).toBe("['0000000000000000', '0000000000000000', '0000000000000000']")
    expect(unshared).toBe(stand.bubblewrap.disablesUserNamespaces ? '-1' : '0')
  })

  it('reaches its control socket and loopback', async () => {
    const server = createServer((socket) => socket.end('pong'))
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    const script = `
import socket
control = socket.socket(socket.AF_UNIX)
control.connect(${JSON.stringify(stand.path('control.sock'))})
control.sendall(b"ping")
control.shutdown(socket.SHUT_WR)
control.recv(1)
print(socket.create_connection(("127.0.0.1", ${port})).recv(4).decode())
`
    expect(await stand.run(script)).toBe('pong')
    expect(stand.received).toBe('ping')
    server.close()
  })

  it('leaves no process behind, also none that went into a session of its own', async () => {
    const script = `
import os, time
print(os.readlink("/proc/self/ns/pid"), flush=True)
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        for descriptor in range(3):
            os.close(descriptor)
        time.sleep(600)
    os._exit(0)
os.wait()
`
    const namespace = await stand.run(script)
    expect(namespace).toMatch(/^pid:\[\d+\]$/)
    await until(() => processesInNamespace(namespace), (pids) => pids.length === 0)
  })

  it('ends with its parent, also when that is killed', async () => {
    const script = `
import os, time
if os.fork() == 0:
    os.setsid()
    time.sleep(600)
print(os.readlink("/proc/self/ns/pid"), flush=True)
time.sleep(600)
`
    const fixture = join(import.meta.dirname, 'fixtures/parent.mjs')
    const parent = spawn(process.execPath, [fixture, JSON.stringify(stand.command(script))], { stdio: ['ignore', 'pipe', 'inherit'] })
    const [first] = (await once(parent.stdout, 'data')) as [Buffer]
    const namespace = String(first).trim()
    expect((await processesInNamespace(namespace)).length).toBeGreaterThanOrEqual(3)
    parent.kill('SIGKILL')
    await once(parent, 'exit')
    await until(() => processesInNamespace(namespace), (pids) => pids.length === 0)
  })
})

const nobody = 65_534
const systemPython = await findPython({ candidates: ['/usr/bin/python3.12', '/usr/bin/python3.11', '/usr/bin/python3'], environment: process.env }).catch(() => undefined)
const isRoot = process.getuid?.() === 0

describe.skipIf(!isRoot || systemPython === undefined)('a confined attempt of an ordinary user (needs root to become one, and a Python in /usr)', () => {
  it('works in its folder and reads no sibling', async () => {
    if (systemPython === undefined) throw new Error('skipped without a system Python')
    const own = await AttemptStand.open(systemPython)
    try {
      await own.giveTo(nobody)
      const { file, args, cwd } = own.command(`${tryAll('read', [own.path('runs/one/attempts/os/task/1.2/result.txt')])}\nopen("result.txt", "w").write(str(os.getuid()))`)
      const { stdout } = await execa(file, args, { cwd, env: {}, extendEnv: false, uid: nobody, gid: nobody, stdin: 'ignore' })
      expect(stdout).toBe('')
      expect(await readText(join(own.attemptFolder, 'result.txt'))).toBe(String(nobody))
    } finally {
      await own.close()
    }
  })
})

describe('checkConfinement', () => {
  it('says how to install bubblewrap when there is none', async () => {
    const check = await checkConfinement({ environment: { PATH: '/no/such/folder' } })
    expect(check).toEqual({ kind: 'refused', reason: expect.stringContaining('apt-get install bubblewrap') as string })
  })

  it('says how to allow namespaces where they are refused', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'upstream-'))
    const program = join(folder, 'bwrap')
    // In a user namespace without any user mapped, the kernel refuses to make further ones.
    await writeFile(program, `#!/bin/sh\nexec /usr/bin/unshare --user ${stand.bubblewrap.path} "$@"\n`)
    await chmod(program, 0o755)
    const check = await checkConfinement({ environment: { PATH: folder } })
    expect(check).toEqual({ kind: 'refused', reason: expect.stringMatching(/does not work here \(.*namespace.*\); allow user namespaces: as root set/) as string })
    await rm(folder, { recursive: true })
  })
})
