import { LocalE2bError } from '../error.ts'

/** One line of `/proc/<pid>/uid_map`: `count` ids from `inside` on are `outside` and following on the host. */
export interface IdRange {
  readonly inside: number
  readonly outside: number
  readonly count: number
}

/** The same ranges serve users and groups unless `/etc/subgid` differs from `/etc/subuid`. */
export interface IdMap {
  readonly users: readonly IdRange[]
  readonly groups: readonly IdRange[]
}

export interface Account {
  readonly uid: number
  readonly gid: number
  readonly name: string
}

export interface IdMapFacts {
  readonly account: Account
  /** First host id that stands for guest root when the server runs as root, who has no line in `/etc/subuid`. */
  readonly rootShift: number
  readonly subuidText: string
  readonly subgidText: string
}

export const guestIdCount = 65_536

/** Guest ids are spare host ids only: guest root is never the account that runs the server. */
export function guestIdMap(facts: IdMapFacts): IdMap {
  const { users, groups } = spareIds(facts)
  return {
    users: [{ inside: 0, outside: users, count: guestIdCount }],
    groups: [{ inside: 0, outside: groups, count: guestIdCount }],
  }
}

/** For host-side work on folders: 0 is the server's own account and guest id N is N + 1. */
export function manageIdMap(facts: IdMapFacts): IdMap {
  const { users, groups } = spareIds(facts)
  return {
    users: [{ inside: 0, outside: facts.account.uid, count: 1 }, { inside: 1, outside: users, count: guestIdCount - 1 }],
    groups: [{ inside: 0, outside: facts.account.gid, count: 1 }, { inside: 1, outside: groups, count: guestIdCount - 1 }],
  }
}

/** First id of an account's spare range in the text of `/etc/subuid` or `/etc/subgid`, if one is big enough. */
export function findSpareRange(text: string, account: Account): number | undefined {
  for (const line of text.split('\n')) {
    const [owner, start, count] = line.trim().split(':')
    if (owner !== account.name && owner !== String(account.uid)) continue
    if (start !== undefined && Number(count) >= guestIdCount) return Number(start)
  }
  return undefined
}

function spareIds(facts: IdMapFacts): { users: number; groups: number } {
  if (facts.account.uid === 0) return { users: facts.rootShift, groups: facts.rootShift }
  const users = findSpareRange(facts.subuidText, facts.account)
  const groups = findSpareRange(facts.subgidText, facts.account)
  if (users === undefined || groups === undefined) {
    const { name } = facts.account
    const file = users === undefined ? '/etc/subuid' : '/etc/subgid'
    throw new LocalE2bError(
      'machine_unfit',
      `${file} gives ${name} no range of ${guestIdCount} ids; run as root: usermod --add-subuids 200000-265535 --add-subgids 200000-265535 ${name}`,
    )
  }
  return { users, groups }
}
