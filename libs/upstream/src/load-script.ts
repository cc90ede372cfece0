import { readFile } from 'node:fs/promises'
import { DocumentError, parseJsonDocument, type Script, scriptSchema, type TaskKey } from '@osworld-e2b/contracts'
import { isMissing } from './task-folder.ts'
import { UpstreamError } from './upstream-error.ts'

/** Reads one task's script; refused when it is malformed, or is for another task than the one given. */
export async function loadScript(file: string, task?: TaskKey): Promise<Script> {
  const script = parseScript(file, await readScript(file))
  if (task !== undefined && (script.task.domain !== task.domain || script.task.id !== task.id)) {
    throw new UpstreamError('script_malformed', `The script ${file} is for ${script.task.domain}/${script.task.id}, not for ${task.domain}/${task.id}; correct its task field.`)
  }
  return script
}

async function readScript(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8')
  } catch (error) {
    if (!isMissing(error)) throw error
    throw new UpstreamError('script_malformed', `There is no script ${file}; write one, choose another script set, or leave the task out.`, error)
  }
}

function parseScript(file: string, text: string): Script {
  try {
    return parseJsonDocument(scriptSchema, `The script ${file}`, text)
  } catch (error) {
    if (error instanceof DocumentError) throw new UpstreamError('script_malformed', `${error.message} Correct the file.`, error)
    throw error
  }
}
