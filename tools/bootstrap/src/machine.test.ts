import { expect, test } from 'vitest'
import { missingPackages, type MachineFacts, refusal } from './machine.mjs'

const fine: MachineFacts = {
  platform: 'linux',
  kernel: '6.1.0-18-amd64',
  nodeVersion: '20.20.2',
  pythonVersions: ['3.11.2'],
  hasVenv: true,
  isRoot: false,
  hasApt: true,
  userNamespaceProblem: undefined,
  restriction: undefined,
  missingPrograms: [],
}

test('a supported machine is not refused and needs nothing', () => {
  expect(refusal(fine)).toBeUndefined()
  expect(missingPackages(fine, true)).toEqual([])
})

test.each([
  ['another system', { platform: 'darwin' }, /Linux namespaces and this is darwin/],
  ['an old kernel', { kernel: '5.10.0-27-amd64' }, /Linux 5\.10\.0-27-amd64 is too old/],
  ['an old Node', { nodeVersion: '18.19.0' }, /Node 18\.19\.0 does not fit/],
  ['an early Node 20', { nodeVersion: '20.11.1' }, /20\.19 or later/],
  ['an odd Node', { nodeVersion: '23.4.0' }, /Node 23\.4\.0 does not fit/],
  ['another Python', { pythonVersions: ['3.13.1', '3.9.2'] }, /found 3\.13\.1, 3\.9\.2/],
  ['no Python', { pythonVersions: [] }, /none was found/],
  ['forbidden namespaces', { userNamespaceProblem: 'unshare failed: Operation not permitted' }, /Operation not permitted/],
  [
    'a named restriction',
    { userNamespaceProblem: 'no', restriction: 'kernel.apparmor_restrict_unprivileged_userns=0' },
    /set kernel\.apparmor_restrict_unprivileged_userns=0/,
  ],
])('%s is refused in one sentence', (_title, change, sentence) => {
  expect(refusal({ ...fine, ...change })).toMatch(sentence)
})

test('missing programs become package names, once each', () => {
  const facts = { ...fine, hasVenv: false, missingPrograms: ['unshare', 'setpriv', 'bwrap'] }
  expect(missingPackages(facts, false)).toEqual(['bubblewrap', 'debian-archive-keyring', 'python3-venv', 'util-linux'])
})
