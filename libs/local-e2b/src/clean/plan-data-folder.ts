import { join } from 'node:path'
import type { CleaningKind } from '@osworld-e2b/contracts'
import type { DataFolderFacts, PartFact, TemplateFact } from './data-folder-facts.ts'

export interface DataFolderPolicy {
  /** How the names of the templates begin that this project builds; all others are the user's and stay. */
  readonly family: string
  /** Name of the template that the present recipe makes. */
  readonly current: string
  /** Templates that something still needs, and what that is. */
  readonly wanted: ReadonlyMap<string, string>
  /** Removes also what a run or a build could still use. */
  readonly all: boolean
}

export interface DataFolderRemoval {
  /** `template` also takes the template out of the data folder's list. */
  readonly kind: CleaningKind
  readonly name: string
  /** Relative to the data folder. */
  readonly paths: readonly string[]
  readonly reason: string
}

export interface DataFolderPlan {
  readonly removals: readonly DataFolderRemoval[]
  /** What could be removed but is in use or may still be needed, with the reason for that. */
  readonly kept: readonly DataFolderRemoval[]
}

/** Decides what of a data folder nobody needs any more. */
export function planDataFolder(facts: DataFolderFacts, policy: DataFolderPolicy): DataFolderPlan {
  const old = facts.templates.filter(({ name }) => name.startsWith(policy.family) && name !== policy.current)
  const keptTemplates = old.flatMap((template) => keepReason(template, facts, policy).map((reason) => ({ template, reason })))
  const doomed = old.filter((template) => !keptTemplates.some((kept) => kept.template === template))
  const rest = facts.templates.filter((template) => !doomed.includes(template))
  const isFree = partsWithout(facts, rest)
  const taken = new Set<PartFact>()
  const removals = doomed.map((template) => removeTemplate(template, isFree, taken))
  const kept = keptTemplates.map(({ template, reason }) => ({ ...removeTemplate(template, partsWithout(facts, facts.templates.filter((other) => other !== template)), new Set()), reason }))
  const cached = isFree.filter((part) => !taken.has(part)).map((part) => removePart(part, facts, `no template stands on it`))
  const mayServeBuild = !policy.all && !isBuilt(facts, policy.current)
  const plan = {
    removals: [...leftOvers(facts), ...removals, ...(mayServeBuild ? [] : cached)],
    kept: [...kept, ...(mayServeBuild ? cached.map((part) => ({ ...part, reason: unbuiltReason })) : [])],
  }
  return facts.holder === undefined ? plan : heldPlan(plan, facts.holder)
}

const unbuiltReason = "the present recipe's template is not built yet and its build may go on from this; build it first, or give --all"

function keepReason(template: TemplateFact, facts: DataFolderFacts, { current, wanted, all }: DataFolderPolicy): readonly string[] {
  if (all) return []
  const need = wanted.get(template.name)
  if (need !== undefined) return [`${need}; --all removes it`]
  return isBuilt(facts, current) ? [] : [unbuiltReason]
}

function isBuilt({ templates }: DataFolderFacts, name: string): boolean {
  return templates.find((template) => template.name === name)?.builds.some(({ isReady }) => isReady) === true
}

/** Bases and layers that none of these templates stands on. */
function partsWithout({ parts }: DataFolderFacts, templates: readonly TemplateFact[]): readonly PartFact[] {
  const needed = new Set(templates.flatMap(({ builds }) => builds.flatMap(({ layers }) => layers)))
  return parts.filter(({ kind, paths: [path] }) => (kind === 'base' || kind === 'layer') && !needed.has(path))
}

/** A template with the free parts that it alone, or it first, stands on. */
function removeTemplate({ name, builds }: TemplateFact, free: readonly PartFact[], taken: Set<PartFact>): DataFolderRemoval {
  const own = new Set(builds.flatMap(({ layers }) => layers))
  const parts = free.filter((part) => own.has(part.paths[0]) && !taken.has(part))
  for (const part of parts) taken.add(part)
  return { kind: 'template', name, paths: parts.flatMap(({ paths }) => paths), reason: 'not what the present recipe makes' }
}

function leftOvers(facts: DataFolderFacts): readonly DataFolderRemoval[] {
  const runtimes = facts.parts.filter(({ kind }) => kind === 'runtime').sort((left, right) => right.changedMs - left.changedMs)
  return facts.parts.flatMap((part) => {
    if (part.kind === 'half_made') return [removePart(part, facts, 'its maker was ended half-way')]
    if (part.kind === 'sandbox_folder') return [removePart(part, facts, 'its server is gone')]
    // The newest is most likely the one that the next server uses; any is made again in a second.
    return part.kind === 'runtime' && part !== runtimes[0] ? [removePart(part, facts, 'a newer copy of the programs in the guest is there')] : []
  })
}

function removePart({ kind, paths }: PartFact, { root }: DataFolderFacts, reason: string): DataFolderRemoval {
  return { kind, name: join(root, paths[0]), paths, reason }
}

/** A server may use any of it, and takes no notice of what is removed under it. */
function heldPlan({ removals, kept }: DataFolderPlan, holder: number): DataFolderPlan {
  const reason = `the local server (process ${holder}) uses this data folder; end it and clean again`
  return { removals: [], kept: [...kept, ...removals.map((removal) => ({ ...removal, reason }))] }
}
