import { certificateNames, proxyNames } from './host-network.ts'

type Environment = Readonly<Record<string, string | undefined>>

/** Of a host program that is called; the server's own environment may hold anything, so these names are all they get. */
const hostNames = ['PATH', 'LANG', 'TMPDIR']
/** Of one that fetches packages: its mirror may be behind a proxy or a certificate authority of the house, and its tools look into the home folder. */
const fetchingNames = [...hostNames, 'HOME', ...proxyNames, ...certificateNames]

/** What host programs see of the server's environment. */
export function hostEnvironment(environment: Environment): Record<string, string> {
  return pick(environment, hostNames)
}

/** What host programs that fetch packages (`mmdebstrap`) see of it. */
export function fetchingEnvironment(environment: Environment): Record<string, string> {
  return pick(environment, fetchingNames)
}

function pick(environment: Environment, names: readonly string[]): Record<string, string> {
  const picked: Record<string, string> = {}
  for (const name of names) {
    const value = environment[name]
    if (value !== undefined) picked[name] = value
  }
  return picked
}
