import type { Dirent } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { VerifyFault } from '@osworld-e2b/contracts'
import { walkFolder } from '@osworld-e2b/inventory'
import { strangeFault } from './attempt-faults.ts'
import type { VerifyContext } from './context.ts'

export interface StrayLook {
  /** Folders of all attempts in the ledger. */
  readonly attemptFolders: ReadonlySet<string>
  /** Whether somebody writes to the run folder now, so that the ledger has gone on since it was read. */
  readonly isGoingOn: boolean
}

/** What lies in a run folder outside of its attempts: links, half-written files, folders of no attempt, and secrets in all of it. */
export async function* strayFaults(context: VerifyContext, look: StrayLook): AsyncGenerator<VerifyFault> {
  for (const entry of await entriesOf(context.folder)) {
    const { name } = entry
    if (name === 'attempts' && entry.isDirectory()) yield* unknownFolders(context, look, { path: name, depth: 0 })
    else if (isHalfWritten(name)) yield* look.isGoingOn ? [] : [halfWritten(name)]
    else yield* entryFaults(context, name, entry)
  }
}

/** The secrets and the strange things of an attempt that was begun and never ended. */
export async function* filesBelow({ folder, findSecrets }: VerifyContext, path: string): AsyncGenerator<VerifyFault> {
  for await (const entry of walkFolder(join(folder, path))) {
    if (entry.kind === 'file') yield* await findSecrets(`${path}/${entry.path}`)
    else yield strangeFault(`${path}/${entry.path}`, entry.kind)
  }
}

function isHalfWritten(name: string): boolean {
  return /^\..+\.[0-9a-f]{12}\.tmp$/.test(name) || /^run\.lock\.\d+(\.stale)?$/.test(name)
}

function halfWritten(path: string): VerifyFault {
  return { kind: 'leftover', path, message: `${path} was left half-written by a coordinator that was ended; remove it.` }
}

async function* entryFaults(context: VerifyContext, path: string, entry: Dirent): AsyncGenerator<VerifyFault> {
  if (entry.isDirectory()) yield* filesBelow(context, path)
  else if (entry.isFile()) yield* await context.findSecrets(path)
  else yield strangeFault(path, entry.isSymbolicLink() ? 'symbolic_link' : 'other')
}

/** Attempts lie three folders deep: domain, task, trial and attempt. */
async function* unknownFolders(context: VerifyContext, look: StrayLook, { path, depth }: { readonly path: string; readonly depth: number }): AsyncGenerator<VerifyFault> {
  for (const entry of await entriesOf(join(context.folder, path))) {
    const below = `${path}/${entry.name}`
    if (look.attemptFolders.has(below)) continue
    if (entry.isDirectory() && depth < 2) {
      yield* unknownFolders(context, look, { path: below, depth: depth + 1 })
      continue
    }
    if (!look.isGoingOn && (entry.isFile() || entry.isDirectory())) yield unknown(below)
    yield* entryFaults(context, below, entry)
  }
}

function unknown(path: string): VerifyFault {
  return { kind: 'leftover', path, message: `${path} belongs to no attempt of the ledger, so nothing vouches for it; move it out of the run folder, or get an unchanged copy of the ledger.` }
}

async function entriesOf(folder: string): Promise<readonly Dirent[]> {
  return (await readdir(folder, { withFileTypes: true })).sort((left, right) => (left.name < right.name ? -1 : 1))
}
