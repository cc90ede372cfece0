import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const checkout = join(dirname(fileURLToPath(import.meta.url)), '..', '..', '..')
export const cacheFolder = join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'osworld-e2b')
