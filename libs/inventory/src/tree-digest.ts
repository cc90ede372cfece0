import { createReadStream } from 'node:fs'
import { join } from 'node:path'
import { sha256Stream } from './digest.ts'
import { InventoryError } from './inventory-error.ts'
import { walkFolder } from './walk.ts'

export interface DigestTreeOptions {
  /** Which files count, by path relative to the folder; all of them by default. */
  readonly list?: (path: string) => boolean
}

/**
 * SHA-256 over a folder's regular files in path order, each as relative POSIX path, NUL, bytes, NUL
 * (the published `evaluator_tree_sha256`). A symbolic link is refused, since its target is outside the digest.
 */
export async function digestTree(folder: string, options: DigestTreeOptions = {}): Promise<string> {
  return sha256Stream(treeChunks(folder, options.list ?? (() => true)))
}

async function* treeChunks(folder: string, list: (path: string) => boolean): AsyncGenerator<string | Uint8Array> {
  for await (const { path, kind } of walkFolder(folder)) {
    if (!list(path)) continue
    if (kind === 'symbolic_link') {
      throw new InventoryError('symbolic_link', `${join(folder, path)} is a symbolic link, which a tree digest cannot cover; replace it by the file.`)
    }
    if (kind !== 'file') continue
    yield `${path}\0`
    yield* createReadStream(join(folder, path)) as AsyncIterable<Uint8Array>
    yield '\0'
  }
}
