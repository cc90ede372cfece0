import { chownSync, lstatSync, mkdirSync, statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import type { GuestAccount } from './accounts.ts'
import type { AgentDefaults } from './defaults.ts'
import { errnoOf, RpcError } from './rpc-error.ts'

/** Absolute form of a caller's path: relative ones and `~` start at the home folder. */
export function resolvePath(path: string, account: GuestAccount): string {
  if (path.includes('\0')) throw new RpcError('invalid_argument', 'a path must not hold a NUL byte')
  if (path === '~' || path.startsWith('~/')) return resolve(join(account.home, path.slice(1)))
  return resolve(account.home, path)
}

/** Folder that a command starts in: the default one belongs to the default user, others start at home. */
export function startFolder(path: string, account: GuestAccount, defaults: AgentDefaults): string {
  if (path !== '') return resolvePath(path, account)
  return account.name === defaults.user && defaults.workdir !== '' ? defaults.workdir : account.home
}

/** Makes a folder and its missing parents, owned by the account; says whether anything was made. */
export function makeFolders(folder: string, account: GuestAccount): boolean {
  const missing: string[] = []
  let path = folder
  while (!isFolder(path)) {
    missing.push(path)
    path = dirname(path)
  }
  for (const each of missing.reverse()) {
    mkdirSync(each, 0o755)
    chownSync(each, account.uid, account.gid)
  }
  return missing.length > 0
}

function isFolder(path: string): boolean {
  try {
    if (statSync(path).isDirectory()) return true
  } catch (error) {
    if (errnoOf(error) !== 'ENOENT' && errnoOf(error) !== 'ENOTDIR') throw error
    if (!isThere(path)) return false
  }
  throw new RpcError('invalid_argument', `path is not a directory: ${path}`)
}

/** Whether anything has this name, a dangling link included. */
export function isThere(path: string): boolean {
  try {
    lstatSync(path)
    return true
  } catch (error) {
    if (errnoOf(error) === 'ENOENT' || errnoOf(error) === 'ENOTDIR') return false
    throw error
  }
}
