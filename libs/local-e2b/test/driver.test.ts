import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { runInSandbox } from '../src/agent-client/index.ts'
import { findSpareRange } from '../src/namespace/id-map.ts'
import { readProcessIdentity } from '../src/process-identity.ts'
import { bash } from './support/agent-calls.ts'
import { bundle } from './support/bundle.ts'
import { HostedDriver, type HostedSandbox } from './support/hosted-driver.ts'
import { makeOrdinaryAccount, ownAccount, type TestAccount } from './support/test-account.ts'
import { testDataFolder, tinyBase } from './support/test-place.ts'
import { processIds, namespaceOf, traces, userNamespaces } from './support/traces.ts'
import { until } from './support/until.ts'

const isRoot = process.getuid?.() === 0
const spareIdsOf = (account: TestAccount) => findSpareRange(readFileSync('/etc/subuid', 'utf8'), account)
const ordinary = isRoot ? makeOrdinaryAccount() : undefined
afterAll(() => { ordinary?.remove() })

const kinds: readonly { kind: string; account: TestAccount | undefined; whyNot: string }[] = [
  { kind: 'root', account: isRoot ? ownAccount() : undefined, whyNot: 'this run is not root' },
  {
    kind: 'an ordinary account',
    account: ordinary?.account ?? (isRoot || spareIdsOf(ownAccount()) === undefined ? undefined : ownAccount()),
    whyNot: 'this account has no spare ids in /etc/subuid',
  },
]

const program = await bundle('test/support/driver-host.ts')
const agentFile = await bundle('src/guest-agent/main.ts')

for (const { kind, account, whyNot } of kinds) {
  if (account === undefined) it.skip(`namespaces as ${kind}: skipped, ${whyNot}`)
  else describe(`namespaces as ${kind}`, () => { describeDriver(account) })
}

function describeDriver(account: TestAccount): void {
  let driver: HostedDriver
  let base: string
  let count = 0
  const newDriver = async (more: Partial<ConstructorParameters<typeof HostedDriver>[0]> = {}) =>
    new HostedDriver({ account, program, agentFile, dataFolder: await testDataFolder(account), ...more })
  const newId = () => `d${process.pid}n${count++}`
  const start = (more: Partial<Parameters<HostedDriver['start']>[0]> = {}) => driver.start({ id: newId(), layers: [base], ...more })
  const inSandbox = async <Result>(work: (sandbox: HostedSandbox) => Promise<Result>): Promise<Result> => {
    const sandbox = await start()
    try {
      return await work(sandbox)
    } finally {
      await driver.destroy(sandbox)
    }
  }

  beforeAll(async () => {
    driver = await newDriver({ hostNetwork: { environment: { FROM_HOST: 'yes' }, files: { 'resolv.conf': 'nameserver 192.0.2.1\n', 'extra.txt': 'extra' } } })
    base = await tinyBase(driver)
    await driver.sweep()
  }, 300_000)
  afterAll(async () => { await driver.close() })

  it('runs a command as guest root, which is a spare id outside', async () => {
    await inSandbox(async ({ agentSocket, initPid }) => {
      expect(await bash(agentSocket, 'id -u; hostname; exit 3')).toEqual({ exitCode: 3, stdout: '0\nguest\n', stderr: '' })
      const outside = Number(/^Uid:\s+(\d+)/m.exec(readFileSync(`/proc/${initPid}/status`, 'utf8'))?.[1])
      expect(outside).toBe(account.uid === 0 ? 200_000 : spareIdsOf(account))
    })
  })

  it('leaves no process, network, mount, socket or folder after twenty sandboxes', async () => {
    const namespaces = userNamespaces(driver)
    const before = traces(driver, namespaces)
    expect(before.processes).toBe(2)
    for (let cycle = 0; cycle < 20; cycle++) {
      await inSandbox(async ({ agentSocket }) => {
        await bash(agentSocket, '(sleep 1000; :) > /dev/null 2>&1 & setsid sleep 1000 > /dev/null 2>&1 & touch /root/file')
      })
    }
    expect(traces(driver, namespaces)).toEqual(before)
  }, 120_000)

  it('keeps answering after guest root killed every process it could', async () => {
    await inSandbox(async ({ agentSocket, initPid }) => {
      await expect(bash(agentSocket, 'kill -9 -1; sleep 1000')).rejects.toMatchObject({ code: 'agent_unreachable' })
      expect((await bash(agentSocket, 'echo again')).stdout).toBe('again\n')
      expect(existsSync(`/proc/${initPid}`)).toBe(true)
    })
  })

  it('ends every sandbox when the process that owns it is killed, and sweeps the folder', async () => {
    const doomed = await newDriver()
    const sandbox = await doomed.start({ id: newId(), layers: [base] })
    const living = await start()
    await bash(sandbox.agentSocket, 'setsid sleep 1000 > /dev/null 2>&1 &')
    const namespaces = userNamespaces(doomed)
    expect(processIds().filter((pid) => namespaces.has(namespaceOf(pid, 'user'))).length).toBeGreaterThan(3)
    await doomed.kill()
    await until('the processes of the dead driver', () => !processIds().some((pid) => namespaces.has(namespaceOf(pid, 'user'))))
    expect(existsSync(sandbox.folder)).toBe(true)
    expect(await driver.sweep()).toContain(sandbox.id)
    expect(existsSync(sandbox.folder)).toBe(false)
    expect((await bash(living.agentSocket, 'echo here')).stdout).toBe('here\n')
    await driver.destroy(living)
  })

  it('shows the guest no file, descriptor or socket of the host', async () => {
    await inSandbox(async ({ agentSocket, folder }) => {
      const { stdout } = await bash(agentSocket, `ls -d ${folder} ${driver.dataFolder} /run/local-e2b/old/*; find / -xdev -name 'agent.sock*'; readlink /proc/1/cwd /proc/1/root; readlink /proc/1/fd/* /proc/$PPID/fd/*`)
      const seen = stdout.trim().split('\n').filter((target) => !/^(\/|\/dev\/null|(pipe|socket):\[\d+\]|anon_inode:.*|\/run\/local-e2b\/init\.sh|\/run\/local-e2b-pipes\/\d+ \(deleted\))$/.test(target))
      expect(seen).toEqual([])
    })
  })

  it('gives a command no descriptor but its own three', async () => {
    await inSandbox(async ({ agentSocket }) => {
      expect((await bash(agentSocket, 'readlink /proc/$$/fd/*')).stdout.trim().split('\n')).toHaveLength(3)
    })
  })

  it('lets guest root make no device, mount no disk and change no kernel setting', async () => {
    await inSandbox(async ({ agentSocket }) => {
      for (const line of ['mknod /dev/disk b 254 0', 'mknod /root/disk b 8 0', 'mount -t ext4 /dev/vda /mnt', 'echo 1 > /proc/sys/kernel/sysrq', 'mount -o remount,rw /run/local-e2b', 'echo x >> /proc/sys/kernel/random/boot_id']) {
        expect((await bash(agentSocket, line)).exitCode, line).not.toBe(0)
      }
    })
  })

  it('reaps processes that lost their parent', async () => {
    await inSandbox(async ({ agentSocket }) => {
      await bash(agentSocket, 'for i in 1 2 3 4 5; do (setsid sh -c "exit 0" > /dev/null 2>&1 &); done')
      await until('the orphans', async () => {
        const { stdout } = await bash(agentSocket, 'ps -eo stat=,ppid=,comm=')
        return !stdout.split('\n').some((line) => line.startsWith('Z') || / 1 sh$/.test(line))
      })
    })
  })

  it('has a loopback network of its own, and a boot id of its own', async () => {
    const [first, second] = [await start(), await start()]
    const look = 'cat /proc/sys/kernel/random/boot_id; tail -n +3 /proc/net/dev | cut -d: -f1'
    const [one, two] = [await bash(first.agentSocket, look), await bash(second.agentSocket, look)]
    expect(one.stdout.split('\n').slice(1).map((name) => name.trim())).toEqual(['lo', ''])
    const bootIds = new Set([one, two].map(({ stdout }) => stdout.split('\n')[0]))
    expect(bootIds.add(readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()).size).toBe(3)
    await Promise.all([driver.destroy(first), driver.destroy(second)])
  })

  it('lets a guest make namespaces with a proc of their own', async () => {
    await inSandbox(async ({ agentSocket }) => {
      expect(await bash(agentSocket, 'unshare --user --map-root-user --pid --fork --mount-proc ps -o pid=')).toMatchObject({ exitCode: 0, stderr: '' })
    })
  })

  it('needs nothing in the image', async () => {
    const empty = join(driver.dataFolder, 'bases', `empty${count++}.partial`)
    mkdirSync(empty, { mode: 0o755 })
    const sandbox = await start({ layers: [empty] })
    const runtime = '/run/local-e2b'
    let said = ''
    const { exitCode } = await runInSandbox({
      agentSocket: sandbox.agentSocket,
      command: [`${runtime}/lib/loader`, '--library-path', `${runtime}/lib`, `${runtime}/bin/sh`, '-c', 'echo *'],
      onOutput: (_stream, chunk) => { said += chunk.toString() },
      cwd: '/',
    })
    expect({ exitCode, said }).toEqual({ exitCode: 0, said: 'dev proc run sys tmp\n' })
    await expect(bash(sandbox.agentSocket, 'true', { cwd: '/' })).rejects.toMatchObject({ code: 'agent_refused', message: expect.stringContaining('/bin/bash') as string })
    await driver.destroy(sandbox)
    await driver.removeFolder(empty)
  })

  it('shows a build the host network and settings, and keeps none of them in the layer', async () => {
    const build = await start({ network: 'host' })
    const seen = await bash(build.agentSocket, 'cat /etc/resolv.conf /run/host-network/extra.txt; echo " $FROM_HOST"; readlink /proc/self/ns/net')
    expect(seen.stdout).toBe(`nameserver 192.0.2.1\nextra yes\n${namespaceOf(process.pid, 'net')}\n`)
    await bash(build.agentSocket, 'echo kept > /tmp/kept; rm /etc/issue; mkdir /srv/made; chown 7:8 /srv/made')
    const layer = join(driver.dataFolder, 'layers', newId())
    await driver.keepLayer(build, layer)
    await driver.destroy(build)
    const built = await start({ layers: [layer, base] })
    const kept = await bash(built.agentSocket, 'stat -c "%u %g" /srv/made; ls /etc/issue; wc -c < /etc/resolv.conf; echo "[$FROM_HOST]"; ls /run')
    expect(kept.stdout).toBe('7 8\n0\n[]\nlocal-e2b\nlocal-e2b-pipes\n')
    expect(readdirSync(join(driver.dataFolder, 'sandboxes'))).not.toContain(build.id)
    await driver.destroy(built)
    const again = await start({ layers: [layer, base], network: 'host' })
    expect((await bash(again.agentSocket, 'cat /tmp/kept')).stdout).toBe('kept\n')
    await driver.destroy(again)
    await driver.removeFolder(layer)
  })

  it('follows no link of an image out of it', async () => {
    const crooked = await start()
    await bash(crooked.agentSocket, 'ln -s /nowhere /linked; cd / && mkdir /moved && rm -rf /etc/resolv.conf && ln -s ../../../etc/passwd /etc/resolv.conf')
    const layer = join(driver.dataFolder, 'layers', newId())
    await driver.keepLayer(crooked, layer)
    await driver.destroy(crooked)
    const build = await start({ layers: [layer, base], network: 'host' })
    expect((await bash(build.agentSocket, 'cat /etc/resolv.conf; tail -n 1 /etc/passwd')).stdout).toMatch(/^nameserver 192\.0\.2\.1\n.*:.*:/)
    const second = join(driver.dataFolder, 'layers', newId())
    await driver.keepLayer(build, second)
    await driver.destroy(build)
    const built = await start({ layers: [second, layer, base] })
    expect((await bash(built.agentSocket, 'readlink /etc/resolv.conf')).stdout).toBe('../../../etc/passwd\n')
    await driver.destroy(built)
    for (const folder of [second, layer]) await driver.removeFolder(folder)
  })

  it('undoes a start that fails half-way and says why', async () => {
    const namespaces = userNamespaces(driver)
    const before = traces(driver, namespaces)
    await expect(start({ layers: [join(driver.dataFolder, 'bases', 'absent')] })).rejects.toMatchObject({ code: 'start_failed', message: expect.stringMatching(/mount.*overlay|overlay.*mount|No such file/s) as string })
    expect(traces(driver, namespaces)).toEqual(before)
  })

  it('reports the end of a sandbox whose first process is killed', async () => {
    const sandbox = await start()
    await driver.stop(sandbox)
    await until('the exit report', () => driver.exits.includes(sandbox.id))
    expect(existsSync(`/proc/${sandbox.initPid}`)).toBe(false)
    expect(existsSync(sandbox.upperFolder)).toBe(true)
    await driver.stop(sandbox)
    await driver.destroy(sandbox)
    await driver.destroy(sandbox)
    expect(existsSync(sandbox.folder)).toBe(false)
  })

  it('ends a sandbox whose supervisor is killed', async () => {
    const sandbox = await start()
    const supervisor = Number(/^PPid:\s*(\d+)$/m.exec(readFileSync(`/proc/${sandbox.initPid}/status`, 'utf8'))?.[1])
    process.kill(supervisor, 'SIGKILL')
    await until('the exit report', () => driver.exits.includes(sandbox.id))
    // What the host's first process has not collected yet counts as ended.
    expect(await readProcessIdentity(sandbox.initPid)).toBeUndefined()
    await driver.destroy(sandbox)
  })

  it('refuses to remove a folder outside its own', async () => {
    await expect(driver.removeFolder('/')).rejects.toMatchObject({ code: 'data_folder_invalid' })
    await expect(driver.removeFolder(driver.dataFolder)).rejects.toMatchObject({ code: 'data_folder_invalid' })
  })

  it('leaves nothing of a base image that could not be made, and says what the tool said', async () => {
    const target = join(driver.dataFolder, 'bases', newId())
    const image = { suite: 'bookworm', variant: 'no-such-variant', packages: [], aptOptions: [], dpkgOptions: [] }
    await expect(driver.makeBase(image, target)).rejects.toMatchObject({ code: 'build_failed', message: expect.stringContaining('invalid variant') as string })
    expect(readdirSync(join(driver.dataFolder, 'bases')).filter((name) => name.startsWith(`d${process.pid}`))).toEqual([])
  })
}
