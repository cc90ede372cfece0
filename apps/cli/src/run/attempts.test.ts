import { expect, test } from 'vitest'
import { sandboxMetadata } from './attempts.ts'

test('a sandbox is marked with its run, start, attempt and owner, in strings', () => {
  const runMetadata = { workload: 'osworld-e2b', run: 'one', run_uid: 'u' }
  const identity = { domain: 'os', id: 'sort', trial: 2, attempt: 3, attemptDir: 'attempts/os/sort/2.3' }
  expect(sandboxMetadata({ runMetadata, session: 4 }, identity, { host: 'here', pid: 7 })).toEqual({
    workload: 'osworld-e2b',
    run: 'one',
    run_uid: 'u',
    session: '4',
    attempt: 'os/sort/2.3',
    owner_host: 'here',
    owner_pid: '7',
  })
})
