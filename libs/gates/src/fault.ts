/** Every rule that this lib knows, so that a program can tell refusals apart without reading sentences. */
export type Rule =
  | 'profile_unknown'
  | 'suite_unknown'
  | 'commit_other'
  | 'commit_missing'
  | 'inventory_missing'
  | 'inventory_other'
  | 'task_count_other'
  | 'task_count_missing'
  | 'inventory_sha256_other'
  | 'inventory_sha256_missing'
  | 'runner_without_source'
  | 'endpoints_missing'
  | 'runner_timing'
  | 'agent_not_runnable'
  | 'agent_unknown'
  | 'setting_protected'
  | 'scripts_sha256_missing'
  | 'source_sha256_missing'
  | 'digest_other'
  | 'template_missing'
  | 'num_envs_too_many'
  | 'phase_timeout_too_long'
  | 'budget_uncounted'
  | 'parity_profile'
  | 'parity_selection'
  | 'parity_agent'
  | 'parity_model'
  | 'parity_setting'
  | 'model_call_attempts_missing'
  | 'model_requests_too_few'
  | 'parity_reference'
  | 'selection_empty'
  | 'proxy_file_missing'
  | 'proxy_file_unreadable'
  | 'proxy_file_malformed'
  | 'proxy_placeholder'
  | 'proxy_off'
  | 'secret_mount_missing'
  | 'secret_mount_malformed'
  | 'secret_mount_unreadable'
  | 'secret_mount_twice'
  | 'not_authorized'
  | 'not_final'
  | 'contract_missing'
  | 'cost_unknown'
  | 'endpoint_unset'
  | 'endpoint_address'
  | 'endpoint_key_unset'
  | 'agent_url_unset'
  | 'agent_url_address'
  | 'settings_missing'
  | 'authorization_missing'
  | 'authorization_other'
  | 'authorization_expired'
  | 'final_unconfined'

/** One broken rule; the message says what, which, and what to do next. */
export interface Fault {
  readonly rule: Rule
  /** Of the field in the contract, where it is one. */
  readonly path?: string
  readonly message: string
}

/** A fault of one contract field; the field begins the sentence. */
export function fieldFault(rule: Rule, path: string, rest: string): Fault {
  return { rule, path, message: `${path} ${rest}` }
}
