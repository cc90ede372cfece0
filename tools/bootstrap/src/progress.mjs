// Progress of long steps. Only Node's own modules: nothing is installed yet when this runs.
import { performance } from 'node:perf_hooks'

const quietMs = 2_000
const plainLineEveryMs = 15_000

/** @param {number} milliseconds */
export function seconds(milliseconds) {
  const whole = Math.round(milliseconds / 1000)
  return whole < 60 ? `${whole} s` : `${Math.floor(whole / 60)} min ${whole % 60} s`
}

/**
 * Runs one step and reports it on standard error: a line that counts the time on a terminal, else a plain line at
 * the start (once it takes over two seconds), now and then, and at the end.
 *
 * @template Result
 * @param {string} title
 * @param {() => Promise<Result>} work
 * @returns {Promise<Result>}
 */
export async function step(title, work) {
  const started = performance.now()
  const elapsed = () => seconds(performance.now() - started)
  const stop = process.stderr.isTTY ? liveLine(title, elapsed) : plainLines(title, elapsed)
  try {
    const result = await work()
    stop(`${title}: done in ${elapsed()}`)
    return result
  } catch (error) {
    stop(`${title}: failed after ${elapsed()}`)
    throw error
  }
}

/** @param {string} title @param {() => string} elapsed */
function liveLine(title, elapsed) {
  const draw = () => process.stderr.write(`\r\u001b[2K${title} … ${elapsed()}`)
  const timer = setInterval(draw, 500)
  draw()
  return (/** @type {string} */ last) => {
    clearInterval(timer)
    process.stderr.write(`\r\u001b[2K${last}\n`)
  }
}

/** @param {string} title @param {() => string} elapsed */
function plainLines(title, elapsed) {
  const first = setTimeout(() => process.stderr.write(`${title} …\n`), quietMs)
  const more = setInterval(() => process.stderr.write(`${title} … ${elapsed()}\n`), plainLineEveryMs)
  return (/** @type {string} */ last) => {
    clearTimeout(first)
    clearInterval(more)
    process.stderr.write(`${last}\n`)
  }
}
