import { flagField, parseMessage, textField, textMapField, type Message } from './message.ts'

/** What a command gets when its caller says nothing; the host may change it before it hands the sandbox out. */
export interface AgentDefaults {
  user: string
  workdir: string
  environment: Readonly<Record<string, string>>
}

export function parseDefaults(text: string): AgentDefaults {
  const message = parseMessage(text)
  return {
    user: textField(message, 'user') || 'root',
    workdir: textField(message, 'workdir'),
    environment: textMapField(message, 'environment'),
  }
}

/** Applies what `POST /init` names: `user`, `workdir`, and `environment`, which is added to what there is unless `replace`. */
export function applyDefaults(defaults: AgentDefaults, message: Message): void {
  if (message.user !== undefined) defaults.user = textField(message, 'user')
  if (message.workdir !== undefined) defaults.workdir = textField(message, 'workdir')
  const kept = flagField(message, 'replace') ? {} : defaults.environment
  defaults.environment = { ...kept, ...textMapField(message, 'environment') }
}
