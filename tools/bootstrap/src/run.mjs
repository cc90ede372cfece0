import { spawn } from 'node:child_process'
import { closeSync, mkdirSync, openSync, readFileSync } from 'node:fs'
import { dirname } from 'node:path'

/** Exit code after a Ctrl-C or a termination. */
const interrupted = 130

/** A failure that the user is told as one sentence, with the exit code that goes with it. */
export class BootstrapError extends Error {
  /** @param {string} message @param {number} exitCode */
  constructor(message, exitCode) {
    super(message)
    this.name = 'BootstrapError'
    this.exitCode = exitCode
  }
}

/**
 * Runs a command with its output in a log file; a failure shows the end of the log.
 *
 * @param {readonly string[]} command
 * @param {{ cwd: string, logFile: string, env?: NodeJS.ProcessEnv }} options
 */
export async function runLogged(command, options) {
  mkdirSync(dirname(options.logFile), { recursive: true })
  const log = openSync(options.logFile, 'w')
  try {
    const code = await exitCode(command, { cwd: options.cwd, env: options.env ?? process.env, stdio: ['ignore', log, log] })
    if (code === interrupted) throw new BootstrapError('Stopped; the next start goes on from here.', interrupted)
    if (code !== 0) throw new BootstrapError(`${tail(options.logFile)}\n${command.join(' ')} ended with exit code ${code}; its whole output is in ${options.logFile}.`, 1)
  } finally {
    closeSync(log)
  }
}

/**
 * Runs a command that shows its own progress; gives its exit code, 130 after a Ctrl-C.
 *
 * @param {readonly string[]} command
 * @param {{ cwd: string, env?: NodeJS.ProcessEnv }} options
 */
export function runShown(command, options) {
  return exitCode(command, { cwd: options.cwd, env: options.env ?? process.env, stdio: 'inherit' })
}

/**
 * @param {readonly string[]} command
 * @param {import('node:child_process').SpawnOptions} options
 * @returns {Promise<number>}
 */
function exitCode([file = '', ...args], options) {
  return new Promise((resolve, reject) => {
    const child = spawn(file, args, options)
    // The child gets the terminal's Ctrl-C itself; this process waits for it to clean up.
    let isStopping = false
    const ignore = () => {
      isStopping = true
    }
    process.on('SIGINT', ignore)
    const forward = () => {
      isStopping = true
      child.kill('SIGTERM')
    }
    process.on('SIGTERM', forward)
    child.once('error', (error) => reject(new BootstrapError(`${file} could not be started: ${error.message}.`, 1)))
    child.once('exit', (code, signal) => {
      process.off('SIGINT', ignore)
      process.off('SIGTERM', forward)
      resolve(isStopping && code !== 0 ? interrupted : (code ?? (signal === 'SIGINT' ? interrupted : 1)))
    })
  })
}

/** @param {string} file */
function tail(file) {
  return readFileSync(file, 'utf8').trimEnd().split('\n').slice(-25).join('\n')
}
