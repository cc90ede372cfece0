import { lstatSync, readdirSync, watch, type FSWatcher, type Stats } from 'node:fs'
import { join } from 'node:path'

export type WatchEventType = 'EVENT_TYPE_CREATE' | 'EVENT_TYPE_WRITE' | 'EVENT_TYPE_REMOVE' | 'EVENT_TYPE_RENAME' | 'EVENT_TYPE_CHMOD'

export interface WatchEvent {
  /** Relative to the watched folder. */
  readonly name: string
  readonly type: WatchEventType
}

interface Known {
  readonly inode: number
  readonly isFolder: boolean
  readonly modifiedMs: number
  readonly changedMs: number
  readonly size: number
}

/**
 * Watches a folder, and with `recursive` all below it. Armed when constructed. A new folder is watched before its event is sent,
 * and what was put in it meanwhile is reported, so that a caller who reacts to the event misses nothing.
 */
export class FolderWatch {
  readonly #root: string
  readonly #recursive: boolean
  readonly #report: (event: WatchEvent) => void
  readonly #watchers = new Map<string, FSWatcher>()
  /** By relative name; tells a creation from a removal, which the kernel's news arrives without. */
  readonly #known = new Map<string, Known>()

  constructor(root: string, recursive: boolean, report: (event: WatchEvent) => void) {
    this.#root = root
    this.#recursive = recursive
    this.#report = report
    this.#arm('')
    for (const name of this.#scan('')) this.#remember(name)
  }

  close(): void {
    for (const watcher of this.#watchers.values()) watcher.close()
    this.#watchers.clear()
  }

  /** Watches one folder and, when recursive, gives way to those below it. */
  #arm(folder: string): void {
    if (this.#watchers.has(folder)) return
    const watcher = watch(join(this.#root, folder), (_kind, base) => {
      if (base !== null) this.#changed(join(folder, base))
    })
    // The folder vanished: its parent's watch reports that.
    watcher.on('error', () => { this.#disarm(folder) })
    this.#watchers.set(folder, watcher)
  }

  #disarm(folder: string): void {
    this.#watchers.get(folder)?.close()
    this.#watchers.delete(folder)
  }

  #scan(folder: string): readonly string[] {
    try {
      return readdirSync(join(this.#root, folder)).map((name) => join(folder, name))
    } catch {
      // Gone again, or no folder any more; its own event follows.
      return []
    }
  }

  #remember(name: string): Known | undefined {
    const found = this.#look(name)
    if (found === undefined) return undefined
    this.#known.set(name, found)
    if (this.#recursive && found.isFolder) this.#enter(name)
    return found
  }

  #enter(folder: string): void {
    try {
      this.#arm(folder)
    } catch (error) {
      if (this.#look(folder) !== undefined) throw error
      return
    }
    for (const name of this.#scan(folder)) if (!this.#known.has(name)) this.#remember(name)
  }

  #look(name: string): Known | undefined {
    let stats: Stats | undefined
    try {
      stats = lstatSync(join(this.#root, name), { throwIfNoEntry: false })
    } catch {
      return undefined
    }
    if (stats === undefined) return undefined
    return { inode: stats.ino, isFolder: stats.isDirectory(), modifiedMs: stats.mtimeMs, changedMs: stats.ctimeMs, size: stats.size }
  }

  #changed(name: string): void {
    const before = this.#known.get(name)
    const now = this.#look(name)
    if (now === undefined) {
      if (before !== undefined) this.#vanished(name, before)
    } else if (before === undefined || before.inode !== now.inode) this.#appeared(name)
    else this.#altered(name, before, now)
  }

  #appeared(name: string): void {
    const known = new Set(this.#known.keys())
    this.#remember(name)
    this.#report({ name, type: 'EVENT_TYPE_CREATE' })
    for (const below of this.#known.keys()) {
      if (below.startsWith(`${name}/`) && !known.has(below)) this.#report({ name: below, type: 'EVENT_TYPE_CREATE' })
    }
  }

  #vanished(name: string, before: Known): void {
    const moved = this.#scan(join(name, '..')).some((other) => this.#look(other)?.inode === before.inode && !this.#known.has(other))
    for (const each of [...this.#known.keys()]) if (each === name || each.startsWith(`${name}/`)) this.#known.delete(each)
    for (const each of [...this.#watchers.keys()]) if (each === name || each.startsWith(`${name}/`)) this.#disarm(each)
    this.#report({ name, type: moved ? 'EVENT_TYPE_RENAME' : 'EVENT_TYPE_REMOVE' })
  }

  #altered(name: string, before: Known, now: Known): void {
    this.#known.set(name, now)
    if (now.isFolder && now.changedMs === before.changedMs) return
    if (now.modifiedMs !== before.modifiedMs || now.size !== before.size) {
      // A folder's own time changes with every entry, and those have events of their own.
      if (!now.isFolder) this.#report({ name, type: 'EVENT_TYPE_WRITE' })
    } else if (now.changedMs !== before.changedMs) this.#report({ name, type: 'EVENT_TYPE_CHMOD' })
  }
}
