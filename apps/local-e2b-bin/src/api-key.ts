import { randomBytes } from 'node:crypto'
import { readServerFile } from '@osworld-e2b/local-e2b'
import { secret, type Secret } from '@osworld-e2b/redaction'

/** The key of this data folder: the one that its last server had, else a new one. */
export async function apiKeyOf(dataFolder: string): Promise<Secret> {
  const before = await readServerFile(dataFolder)
  return secret(before?.api_key ?? `e2b_${randomBytes(20).toString('hex')}`, 'API key')
}
