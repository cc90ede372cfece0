import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { userInfo } from 'node:os'

export interface TestAccount {
  readonly uid: number
  readonly gid: number
  readonly name: string
}

const temporaryName = 'local-e2b-test'
/** Fixed, so that a base image made for the account can be kept between test runs. */
const spareIds = '300000-365535'

export function ownAccount(): TestAccount {
  const { uid, gid, username } = userInfo()
  return { uid, gid, name: username }
}

/** Makes an ordinary account with spare ids of its own; only root can. `remove` takes it away again. */
export function makeOrdinaryAccount(): { account: TestAccount; remove: () => void } {
  if (!exists()) execFileSync('useradd', ['--no-create-home', '--home-dir', '/nonexistent', '--uid', '29371', temporaryName])
  execFileSync('usermod', ['--del-subuids', '100000-4000000', '--del-subgids', '100000-4000000', temporaryName])
  execFileSync('usermod', ['--add-subuids', spareIds, '--add-subgids', spareIds, temporaryName])
  const account = {
    name: temporaryName,
    uid: Number(execFileSync('id', ['-u', temporaryName])),
    gid: Number(execFileSync('id', ['-g', temporaryName])),
  }
  return { account, remove: () => { execFileSync('userdel', [temporaryName]) } }
}

function exists(): boolean {
  return readFileSync('/etc/passwd', 'utf8').split('\n').some((line) => line.startsWith(`${temporaryName}:`))
}
