import { lstatSync, readlinkSync, realpathSync, type Stats } from 'node:fs'
import { basename, dirname, resolve } from 'node:path'
import type { GuestAccounts } from './accounts.ts'
import { errnoOf, RpcError } from './rpc-error.ts'

/** E2B's `EntryInfo` in proto3 JSON; `size` is a string as all 64-bit numbers are. */
export interface FileEntry {
  readonly name: string
  readonly type: FileType
  readonly path: string
  readonly size: string
  readonly mode: number
  readonly permissions: string
  readonly owner: string
  readonly group: string
  readonly modifiedTime: string
  readonly symlinkTarget?: string
}

export type FileType = 'FILE_TYPE_FILE' | 'FILE_TYPE_DIRECTORY' | 'FILE_TYPE_SYMLINK' | 'FILE_TYPE_UNSPECIFIED'

/** Describes what lies at a path, a link itself and not its target; `not_found` when nothing does. */
export function describeEntry(path: string, accounts: GuestAccounts): FileEntry {
  const stats = statsOf(path)
  return {
    name: basename(path) || '/',
    type: typeOf(stats),
    path,
    size: String(stats.size),
    mode: stats.mode & 0o7777,
    permissions: permissionsOf(stats),
    owner: accounts.userName(stats.uid),
    group: accounts.groupName(stats.gid),
    modifiedTime: stats.mtime.toISOString(),
    ...(stats.isSymbolicLink() ? { symlinkTarget: targetOf(path) } : {}),
  }
}

function statsOf(path: string): Stats {
  try {
    return lstatSync(path)
  } catch (error) {
    if (errnoOf(error) === 'ENOENT' || errnoOf(error) === 'ENOTDIR') throw new RpcError('not_found', `file not found: ${path}`, { cause: error })
    throw error
  }
}

function typeOf(stats: Stats): FileType {
  if (stats.isFile()) return 'FILE_TYPE_FILE'
  if (stats.isDirectory()) return 'FILE_TYPE_DIRECTORY'
  return stats.isSymbolicLink() ? 'FILE_TYPE_SYMLINK' : 'FILE_TYPE_UNSPECIFIED'
}

/** Absolute; a dangling link still says where it points. */
function targetOf(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    return resolve(dirname(path), readlinkSync(path))
  }
}

/** The `-rw-r--r--` form of `ls`. */
function permissionsOf(stats: Stats): string {
  const kind = stats.isDirectory() ? 'd' : stats.isSymbolicLink() ? 'l' : stats.isFIFO() ? 'p' : stats.isSocket() ? 's' : stats.isCharacterDevice() ? 'c' : stats.isBlockDevice() ? 'b' : '-'
  return kind + triple(stats.mode >> 6, stats.mode & 0o4000, 's') + triple(stats.mode >> 3, stats.mode & 0o2000, 's') + triple(stats.mode, stats.mode & 0o1000, 't')
}

function triple(bits: number, special: number, letter: string): string {
  const runs = (bits & 1) !== 0
  const last = special === 0 ? (runs ? 'x' : '-') : runs ? letter : letter.toUpperCase()
  return ((bits & 4) === 0 ? '-' : 'r') + ((bits & 2) === 0 ? '-' : 'w') + last
}
