import path from 'node:path'
import { pino, type Logger } from 'pino'

/** Logs to standard error and to `server.log` of the data folder, both at once so that a crash loses no line. */
export function openServerLog(dataFolder: string): Logger {
  const file = pino.destination({ dest: path.join(dataFolder, 'server.log'), sync: true, mode: 0o600 })
  return pino({ base: null }, pino.multistream([{ stream: pino.destination({ dest: 2, sync: true }) }, { stream: file }]))
}
