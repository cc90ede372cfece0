import { readFileSync } from 'node:fs'
import { errnoOf, RpcError } from './rpc-error.ts'

export interface GuestAccount {
  readonly name: string
  readonly uid: number
  readonly gid: number
  readonly home: string
  /** All groups of the account, its own one first. */
  readonly groups: readonly number[]
}

/** Reads the guest's own account files each time, since anything in the guest may change them. */
export class GuestAccounts {
  readonly #passwdFile: string
  readonly #groupFile: string

  constructor(passwdFile: string, groupFile: string) {
    this.#passwdFile = passwdFile
    this.#groupFile = groupFile
  }

  find(name: string): GuestAccount {
    for (const [login, , uid, gid, , home] of readTable(this.#passwdFile)) {
      if (login !== name) continue
      return { name, uid: Number(uid), gid: Number(gid), home: home || '/', groups: this.#groupsOf(name, Number(gid)) }
    }
    if (name === 'root') return { name, uid: 0, gid: 0, home: '/root', groups: [0] }
    throw new RpcError('unauthenticated', `invalid username: '${name}'`)
  }

  userName(uid: number): string {
    return nameOf(this.#passwdFile, uid)
  }

  groupName(gid: number): string {
    return nameOf(this.#groupFile, gid)
  }

  #groupsOf(name: string, own: number): readonly number[] {
    const others = readTable(this.#groupFile)
      .filter(([, , , members]) => members?.split(',').includes(name))
      .map(([, , gid]) => Number(gid))
    return [...new Set([own, ...others])]
  }
}

/** Name in the first column for the id in the third, or the id itself. */
function nameOf(file: string, id: number): string {
  return readTable(file).find((row) => row[2] === String(id))?.[0] ?? String(id)
}

function readTable(file: string): readonly (readonly string[])[] {
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return []
    throw error
  }
  return text.split('\n').filter((line) => line !== '' && !line.startsWith('#')).map((line) => line.split(':'))
}
