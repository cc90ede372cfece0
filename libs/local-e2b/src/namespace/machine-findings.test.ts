import { describe, expect, it } from 'vitest'
import { machineFindings, type MachineFacts } from './machine-findings.ts'

const fit: MachineFacts = {
  platform: 'linux',
  kernelRelease: '6.1.0-18-amd64',
  account: { uid: 1000, gid: 1000, name: 'alice' },
  missingPrograms: [],
  subuidText: 'alice:100000:65536\n',
  subgidText: 'alice:100000:65536\n',
  inotifyInstances: 8192,
  apparmorRestrictsUserNamespaces: false,
  trial: { passed: true },
}
const root = { uid: 0, gid: 0, name: 'root' }

describe('machineFindings', () => {
  it('finds nothing on a fit machine', () => { expect(machineFindings(fit)).toEqual([]) })

  it.each<[string, Partial<MachineFacts>, RegExp]>([
    ['another system', { platform: 'darwin' }, /E2B itself/],
    ['an old kernel', { kernelRelease: '5.10.0' }, /Update the kernel/],
    ['missing programs, by package', { missingPrograms: ['ip', 'mmdebstrap', 'newuidmap', 'newgidmap'] }, /install --no-install-recommends iproute2 mmdebstrap uidmap \(as root\)/],
    ['no spare user ids', { subuidText: 'bob:100000:65536' }, /usermod --add-subuids .* alice/],
    ['no spare group ids', { subgidText: '' }, /usermod/],
    ['a refused unshare', { trial: { passed: false, step: 'unshare', reason: 'Operation not permitted' } }, /max_user_namespaces/],
    ['AppArmor\'s rule', { apparmorRestrictsUserNamespaces: true, trial: { passed: false, step: 'tmpfs', reason: 'permission denied' } }, /apparmor_restrict/],
    ['a covered proc', { trial: { passed: false, step: 'proc', reason: 'not permitted' } }, /systempaths=unconfined/],
    ['a missing overlay', { trial: { passed: false, step: 'overlay', reason: 'unknown filesystem type' } }, /modprobe overlay/],
  ])('names the remedy for %s', (_what, facts, remedy) => {
    const findings = machineFindings({ ...fit, ...facts })
    expect(findings).toHaveLength(1)
    expect(findings[0]).toMatchObject({ required: true, remedy: expect.stringMatching(remedy) as string })
  })

  it('asks root for no spare ids and no uidmap', () => {
    expect(machineFindings({ ...fit, account: root, subuidText: '', subgidText: '', missingPrograms: ['newuidmap'] })).toEqual([])
  })

  it('only advises where sandboxes work but not many', () => {
    expect(machineFindings({ ...fit, inotifyInstances: 128 })).toMatchObject([{ required: false }])
  })
})
