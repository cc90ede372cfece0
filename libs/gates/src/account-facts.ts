import type { ContractFile } from '@osworld-e2b/contracts'

/** What was found out about the account, the endpoints and this machine; whoever asked is not this lib. */
export interface AccountFacts {
  readonly contract: ContractFile
  readonly key: KeyFact
  readonly template: TemplateFact
  readonly sandboxes: SandboxFact
  readonly endpoints: readonly EndpointFact[]
  /** Whether the address of an agent that is asked over HTTP is known; of no meaning for others. */
  readonly hasAgentUrl: boolean
  readonly proxies: readonly ProxyFact[]
  readonly hostTools: readonly HostToolFact[]
  readonly disk: RoomFact
  readonly memory: RoomFact
  /** How far this machine's clock is ahead of the API's `Date` header; null when no answer had one. */
  readonly clockSkewMs: number | null
}

/** Why something could not be asked, as the end of a sentence such as "does not answer within 10 s". */
export interface Unasked {
  readonly state: 'unknown'
  readonly problem: string
}

export type KeyFact = { readonly state: 'accepted' | 'absent' | 'refused' } | Unasked

export type TemplateFact = { readonly state: 'found' | 'no_such_name' | 'no_such_build' | 'not_named' } | Unasked

/** Of the account: how many may run at a time and how many run now. */
export type SandboxFact = { readonly state: 'known'; readonly limit: number; readonly running: number } | Unasked

export interface EndpointFact {
  readonly label: string
  readonly answer: { readonly state: 'answers' | 'unset' | 'key_unset' | 'key_wanted' | 'key_refused' } | Unasked
}

/** Of one entry of the proxy file, counted from one; its host stays out of what is printed. */
export interface ProxyFact {
  readonly entry: number
  readonly answer: { readonly state: 'answers' | 'refused_login' } | Unasked
}

export interface HostToolFact {
  readonly name: string
  /** How many selected tasks have an evaluator that calls it. */
  readonly taskCount: number
  readonly isFound: boolean
  /** Debian package that brings it. */
  readonly package: string
}

export interface RoomFact {
  readonly freeBytes: number
  readonly neededBytes: number
}
