import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { access, chmod, copyFile, mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { catalogArtifacts } from '@osworld-e2b/inventory'
import { execa } from 'execa'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { findPython } from '../src/index.ts'
import type { AttemptLimits } from '../src/confinement-limits.ts'
import { AttemptStand, processesInNamespace, until } from './attempt-stand.ts'

// What guest-made code in a metric may try. Each attack first runs as an ordinary process, where it must succeed, so that a
// refusal inside is the work of the confinement and not of a mistake in the attack.

const key = `e2b_${'0123456789'.repeat(4)}`
const isRoot = process.getuid?.() === 0
const nobody = { uid: 65_534, gid: 65_534 }
const systemPython = await findPython({ candidates: ['/usr/bin/python3.12', '/usr/bin/python3.11', '/usr/bin/python3'], environment: process.env }).catch(() => undefined)
let stand: AttemptStand
/** Stands for the coordinator: another process of the same user, with the key in its environment. */
let coordinator: ChildProcess

beforeAll(async () => {
  stand = await AttemptStand.open(await findPython({ environment: process.env }))
  coordinator = spawn('/usr/bin/sleep', ['600'], { env: { E2B_API_KEY: key }, stdio: 'ignore' })
  await once(coordinator, 'spawn')
})
afterAll(async () => {
  coordinator.kill('SIGKILL')
  await stand.close()
})
beforeEach(async () => {
  await mkdir(stand.path('runs/one/attempts/os/task/1.2'), { recursive: true })
  const files = { 'home/.env': key, 'runs/one/run.json': key, 'runs/one/run.lock': 'lock', 'runs/one/attempts.jsonl': 'ledger\n', 'runs/one/attempts/os/task/1.2/result.txt': 'sibling' }
  for (const [path, content] of Object.entries(files)) await writeFile(stand.path(path), content)
})

/** What the attack prints as an ordinary process and inside; nothing means that it gained nothing. */
async function attack(script: string): Promise<{ readonly outside: string; readonly inside: string }> {
  return { inside: await stand.run(script), outside: await stand.runUnconfined(script) }
}

/** A stand of a user without any right. */
async function ordinaryStand(): Promise<AttemptStand> {
  if (systemPython === undefined) throw new Error('skipped without a system Python')
  const own = await AttemptStand.open(systemPython)
  await own.giveTo(nobody.uid)
  return own
}

async function asNobody(own: AttemptStand, script: string, limits: Partial<AttemptLimits> = {}): Promise<string> {
  const { file, args, cwd } = own.command(script, {}, { limits })
  return (await execa(file, args, { ...nobody, cwd, env: {}, extendEnv: false, stdin: 'ignore' })).stdout
}

function python(value: unknown): string {
  return JSON.stringify(value)
}

describe('code in a confined attempt does not read', () => {
  it('the key from the environment of another process', async () => {
    const script = `
import glob
for path in glob.glob("/proc/*/environ"):
    try:
        if ${python(key)} in open(path, errors="replace").read():
            print("found")
    except OSError:
        pass
`
    expect(await attack(script)).toEqual({ outside: 'found', inside: '' })
  })

  it('the key from a file outside of the temporary folder', async () => {
    const folder = await mkdtemp('/var/tmp/attack-')
    await writeFile(join(folder, 'key'), key)
    const script = `
try:
    print(open(${python(join(folder, 'key'))}).read())
except OSError:
    pass
`
    expect(await attack(script)).toEqual({ outside: key, inside: '' })
    await rm(folder, { recursive: true })
  })

  it('the key from any file, also by way of what other processes have open or work in', async () => {
    const script = `
import glob, os
roots = [${python(stand.root)}, "/run/user", "/dev/shm"] + glob.glob("/proc/[0-9]*/cwd") + glob.glob("/proc/[0-9]*/root" + ${python(stand.root)})
for root in roots:
    for folder, _, files in os.walk(root):
        if folder.count("/") > 12:
            continue
        for name in files:
            try:
                if os.path.isfile(os.path.join(folder, name)) and ${python(key)}.encode() in open(os.path.join(folder, name), "rb").read(100_000):
                    print("found")
                    raise SystemExit
            except OSError:
                pass
`
    expect(await attack(script)).toEqual({ outside: 'found', inside: '' })
  })

  it.each(['runs/one/attempts.jsonl', 'runs/one/run.json', 'runs/one/run.lock', 'runs/one/attempts/os/task/1.2/result.txt'])('%s, and writes nothing to it', async (path) => {
    const before = await readFile(stand.path(path), 'utf8')
    const script = `
path = ${python(stand.path(path))}
for mode in "r", "a", "w":
    try:
        file = open(path, mode)
        print(mode + (" read" if mode == "r" and file.read() else " written" if mode != "r" and file.write("forged") else ""))
    except OSError:
        pass
`
    // Inside, a file of that name may come to be in the private tmpfs above the attempt's folder; nobody else ever sees it.
    const inside = await stand.run(script)
    expect(inside).not.toContain('read')
    expect(await readFile(stand.path(path), 'utf8')).toBe(before)
    expect(await stand.runUnconfined(script)).toBe('r read\na written\nw written')
    expect(await readFile(stand.path(path), 'utf8')).not.toBe(before)
  })
})

describe('code in a confined attempt does not reach', () => {
  it('another process by signal, trace or memory', async () => {
    const script = `
import ctypes, os
pid = ${coordinator.pid ?? 0}
system = ctypes.CDLL(None)
try:
    os.kill(pid, 0)
    print("signal")
except OSError:
    pass
if system.ptrace(16, pid, None, None) == 0:
    print("trace")
    os.waitpid(pid, 0x40000000)
    system.ptrace(17, pid, None, None)
try:
    open(f"/proc/{pid}/mem", "rb")
    print("memory")
except OSError:
    pass
`
    expect(await attack(script)).toEqual({ outside: 'signal\ntrace\nmemory', inside: '' })
  })

  it('the control socket of another attempt', async () => {
    const path = stand.path('other.sock')
    const other = createServer((socket) => socket.end())
    await new Promise<void>((resolve) => other.listen(path, resolve))
    const script = `
import socket
try:
    socket.socket(socket.AF_UNIX).connect(${python(path)})
    print("connected")
except OSError:
    pass
`
    expect(await attack(script)).toEqual({ outside: 'connected', inside: '' })
    await new Promise((resolve) => other.close(resolve))
  })

  it('an abstract socket of the machine (from Linux 6.12)', async ({ skip }) => {
    const [major = 0, minor = 0] = (await readFile('/proc/sys/kernel/osrelease', 'utf8')).split('.').map(Number)
    skip(major < 6 || (major === 6 && minor < 12), 'This kernel cannot shut a process off from abstract sockets.')
    const name = `osworld-test-${process.pid}`
    const server = spawn(stand.python.path, ['-c', `import socket, time; s = socket.socket(socket.AF_UNIX); s.bind("\\0${name}"); s.listen(); print("up", flush=True); time.sleep(600)`], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    await once(server.stdout, 'data')
    const script = `
import socket
try:
    socket.socket(socket.AF_UNIX).connect("\\0${name}")
    print("connected")
except OSError:
    pass
`
    try {
      expect(await attack(script)).toEqual({ outside: 'connected', inside: '' })
    } finally {
      server.kill('SIGKILL')
    }
  })

  it('the shared memory of the machine', async () => {
    const name = `osworld-test-${process.pid}`
    const script = `open("/dev/shm/${name}", "w").write("x"); print("written")`
    expect(await stand.run(script)).toBe('written')
    await expect(access(`/dev/shm/${name}`)).rejects.toMatchObject({ code: 'ENOENT' })
    await stand.runUnconfined(script)
    await rm(`/dev/shm/${name}`)
  })
})

describe('code in a confined attempt does not gain', () => {
  it.runIf(isRoot)('a mount or a capability by a user namespace of its own', async ({ skip }) => {
    skip(!stand.bubblewrap.disablesUserNamespaces, 'This bubblewrap cannot disable user namespaces.')
    const script = `
import ctypes
system = ctypes.CDLL(None)
if system.unshare(0x10000000 | 0x00020000) == 0 and system.mount(b"none", b"/tmp", b"tmpfs", 0, None) == 0:
    print("mounted")
`
    expect(await attack(script)).toEqual({ outside: 'mounted', inside: '' })
  })

  it.runIf(isRoot && systemPython !== undefined)('another user by a set-user-id program (an ordinary user; needs root to become one)', async () => {
    const own = await ordinaryStand()
    const program = own.path('adapter/id')
    await copyFile('/usr/bin/id', program)
    await chmod(program, 0o4755)
    try {
      expect((await execa(program, ['-u'], { ...nobody, cwd: '/', env: {}, extendEnv: false })).stdout).toBe('0')
      expect(await asNobody(own, `import subprocess; print(subprocess.run([${python(program)}, "-u"], capture_output=True, text=True).stdout.strip())`)).toBe(String(nobody.uid))
    } finally {
      await own.close()
    }
  })

  it('anything by files that it puts in the place of its own folder or of those that the coordinator writes there', async () => {
    const written = ['attempt.json', 'stdout.log', 'stderr.log', 'relay.stderr.log', 'model-calls.jsonl']
    const script = (folder: string) => `
import os
def attempt(name, act):
    try:
        act()
        print(name)
    except OSError:
        pass
for name in ${python(written)}:
    attempt("write " + name, lambda: open(name, "a").write("forged"))
    attempt("replace " + name, lambda: os.rename(name, name + ".mine"))
    attempt("remove " + name, lambda: os.remove(name))
os.chdir("/")
attempt("move", lambda: os.rename(${python(folder)}, ${python(`${folder}.mine`)}))
`
    const own = await AttemptStand.open(stand.python)
    try {
      for (const name of written) await writeFile(join(own.attemptFolder, name), '{}')
      expect(await own.run(script(own.attemptFolder))).toBe('')
      expect((await own.runUnconfined(script(own.attemptFolder))).split('\n')).toHaveLength(2 * written.length + 1)
    } finally {
      await own.close()
    }
  })

  it('a hard link to what is outside its folder', async () => {
    const script = `
import os
for path in ${python([stand.path('adapter/adapter.py'), stand.path('suite/task.json'), stand.path('runs/one/attempts.jsonl')])}:
    try:
        os.link(path, "linked-" + os.path.basename(path))
        print("linked")
    except OSError:
        pass
`
    expect(await attack(script)).toEqual({ outside: 'linked\nlinked\nlinked', inside: '' })
    for (const name of ['adapter.py', 'task.json', 'attempts.jsonl']) await rm(join(stand.attemptFolder, `linked-${name}`))
  })

  it('foreign files in its catalog by links, pipes and sockets', async () => {
    await stand.run(`
import os, socket
os.symlink(${python(stand.path('runs/one/run.json'))}, "stolen.json")
os.symlink(${python(stand.path('runs/one'))}, "stolen")
os.symlink("/dev/zero", "endless")
os.mkfifo("pipe")
socket.socket(socket.AF_UNIX).bind("socket")
open("own.txt", "w").write("own")
`)
    const paths = (await catalogArtifacts(stand.attemptFolder)).map(({ path }) => path)
    expect(paths).toContain('own.txt')
    expect(paths.filter((path) => /stolen|endless|pipe|socket/.test(path))).toEqual([])
    for (const name of ['stolen.json', 'stolen', 'endless', 'pipe', 'socket', 'own.txt']) await rm(join(stand.attemptFolder, name))
  })
})

describe('code in a confined attempt uses no more than its share', () => {
  async function limited(script: string, limits: Partial<AttemptLimits>): Promise<string> {
    const { file, args, cwd } = stand.command(script, {}, { limits })
    return (await execa(file, args, { cwd, env: {}, extendEnv: false, stdin: 'ignore' })).stdout
  }

  const fill = (path: string) => `
try:
    with open(${python(path)}, "wb") as file:
        for _ in range(64):
            file.write(bytes(1 << 20))
            file.flush()
    print("all")
except OSError as error:
    print(error.strerror)
`

  it('of the disk by one file', async () => {
    const path = join(stand.attemptFolder, 'big')
    expect(await limited(fill(path), { fileBytes: 8 << 20 })).toBe('File too large')
    expect((await stat(path)).size).toBe(8 << 20)
    expect(await limited(fill(path), {})).toBe('all')
    await rm(path)
  })

  it.each([
    ['/tmp/big', { temporaryBytes: 8 << 20 }],
    ['/dev/shm/big', { sharedMemoryBytes: 8 << 20 }],
  ])('of memory by %s', async (path, limits) => {
    const isSized = stand.bubblewrap.disablesUserNamespaces
    expect(await limited(fill(path), limits)).toBe(isSized ? 'No space left on device' : 'all')
    expect(await limited(fill(path), {})).toBe('all')
  })

  it('of memory by a file in /dev', async () => {
    expect(await limited(fill('/dev/big'), {})).toBe('Read-only file system')
  })

  it('of memory by what a process asks for, and cannot raise that again', async () => {
    const script = `
import resource
try:
    resource.setrlimit(resource.RLIMIT_DATA, (1 << 40, 1 << 40))
    print("raised")
except (ValueError, OSError):
    pass
try:
    bytearray(512 << 20)
    print("given")
except MemoryError:
    print("refused")
`
    expect(await limited(script, { memoryBytes: 256 << 20 })).toBe('refused')
    expect(await limited(script, {})).toBe('given')
  })

  it('of core files', async () => {
    expect(await limited('import resource; print(resource.getrlimit(resource.RLIMIT_CORE))', {})).toBe('(0, 0)')
  })

  it.runIf(isRoot && systemPython !== undefined)('of processes (an ordinary user; needs root to become one)', async () => {
    const own = await ordinaryStand()
    const script = `
import os, signal, time
children = []
try:
    for _ in range(60):
        child = os.fork()
        if child == 0:
            time.sleep(600)
        children.append(child)
    print("all")
except OSError as error:
    print(error.strerror)
`
    try {
      expect(await asNobody(own, script, { processes: 40 })).toBe('Resource temporarily unavailable')
      expect(await asNobody(own, script)).toBe('all')
    } finally {
      await own.close()
    }
  })
})

describe('code in a confined attempt does not outlive it', () => {
  it.each([
    ['a daemon that ignores every signal', 'if os.fork() == 0:\n    os.setsid()\n    for number in range(1, 65):\n        try:\n            signal.signal(number, signal.SIG_IGN)\n        except (OSError, ValueError):\n            pass\n    if os.fork() == 0:\n        time.sleep(600)\n    os._exit(0)'],
    ['a hundred threads', 'for _ in range(100):\n    threading.Thread(target=time.sleep, args=(600,)).start()'],
    ['processes that keep forking', 'for _ in range(7):\n    os.fork()'],
    ['one that tries to stop its first process', 'for number in (signal.SIGSTOP, signal.SIGKILL, signal.SIGTERM):\n    os.kill(1, number)'],
  ])('by %s', async (_, trick) => {
    const script = `import os, signal, threading, time\nspace = os.readlink("/proc/self/ns/pid")\n${trick}\nprint(space, flush=True)\ntime.sleep(600)`
    const { file, args, cwd } = stand.command(script)
    const child = spawn(file, args, { cwd, env: {}, stdio: ['ignore', 'pipe', 'ignore'] })
    const [first] = (await once(child.stdout, 'data')) as [Buffer]
    const [namespace = ''] = String(first).split('\n')
    expect((await processesInNamespace(namespace)).length).toBeGreaterThanOrEqual(2)
    child.kill('SIGKILL')
    await until(() => processesInNamespace(namespace), (pids) => pids.length === 0)
  })
})
