import { join } from 'node:path'
import { guestHostNetworkFolder } from './guest-paths.ts'

/** What a template build needs to reach the network as the host does; none of it enters a layer. */
export interface HostNetworkSettings {
  /** Added to every command of a build. */
  readonly environment: Readonly<Record<string, string>>
  /** Shown read-only to a build in one folder, by file name; `resolv.conf` is bound over the guest's own. */
  readonly files: Readonly<Record<string, string>>
}

export interface HostNetworkFacts {
  readonly environment: Readonly<Record<string, string | undefined>>
  readonly resolvConf: string
  /** Certificates that the host trusts, if they differ from a distribution's or not; empty when there are none. */
  readonly certificates: string
  readonly pipConfig: string
  readonly npmConfig: string
  /** Texts of the files in `/etc/apt/apt.conf.d`. */
  readonly aptConfig: readonly string[]
}

export const proxyNames = ['http_proxy', 'https_proxy', 'no_proxy', 'HTTP_PROXY', 'HTTPS_PROXY', 'NO_PROXY', 'ALL_PROXY', 'all_proxy']
export const certificateNames = ['SSL_CERT_FILE', 'CURL_CA_BUNDLE', 'REQUESTS_CA_BUNDLE', 'NODE_EXTRA_CA_CERTS', 'PIP_CERT', 'GIT_SSL_CAINFO', 'npm_config_cafile']
const npmHostPaths = /^\s*(cafile|cache|prefix|userconfig|globalconfig|tmp|init-module)\s*=/

/** Decides which of the host's settings a build sees; those that name files of the host are left out or replaced. */
export function hostNetworkSettings(facts: HostNetworkFacts): HostNetworkSettings {
  const certificates = facts.certificates === '' ? undefined : join(guestHostNetworkFolder, 'certificates.pem')
  return {
    environment: {
      ...pipEnvironment(facts.pipConfig),
      ...passedEnvironment(facts.environment),
      APT_CONFIG: join(guestHostNetworkFolder, 'apt.conf'),
      NPM_CONFIG_USERCONFIG: join(guestHostNetworkFolder, 'npmrc'),
      ...(certificates === undefined ? {} : { ...Object.fromEntries(certificateNames.map((name) => [name, certificates])), WGETRC: join(guestHostNetworkFolder, 'wgetrc') }),
    },
    files: {
      'resolv.conf': facts.resolvConf,
      'apt.conf': aptText(facts.aptConfig, certificates),
      npmrc: linesOf(facts.npmConfig).filter((line) => !npmHostPaths.test(line)).join('\n'),
      ...(certificates === undefined ? {} : { 'certificates.pem': facts.certificates, wgetrc: `ca_certificate = ${certificates}\n` }),
    },
  }
}

/** Settings of `pip.conf` as pip's own variables: a guest may have a file of its own, which two files would clash with. */
function pipEnvironment(text: string): Record<string, string> {
  const found: Record<string, string> = {}
  let section = ''
  let name = ''
  for (const line of linesOf(text)) {
    section = /^\[(.+)\]\s*$/.exec(line)?.[1] ?? section
    const [, key, value] = /^([A-Za-z][\w-]*)\s*[=:]\s*(.*)$/.exec(line) ?? []
    const more = /^\s+(\S.*)$/.exec(line)?.[1]
    if (section !== 'global' && section !== 'install') continue
    if (key !== undefined) {
      name = `PIP_${key.toUpperCase().replaceAll('-', '_')}`
      found[name] = value ?? ''
    } else if (more !== undefined && name !== '') found[name] = `${found[name] ?? ''} ${more}`.trim()
  }
  return withoutHostPaths(found)
}

function passedEnvironment(environment: HostNetworkFacts['environment']): Record<string, string> {
  const wanted = (name: string) => proxyNames.includes(name) || /^(PIP|UV|npm_config)_/i.test(name)
  const found = Object.entries(environment).filter((entry): entry is [string, string] => entry[1] !== undefined && wanted(entry[0]))
  return withoutHostPaths(Object.fromEntries(found))
}

function withoutHostPaths(settings: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(settings).filter(([, value]) => !/^(file:\/\/|[/~.])/.test(value)))
}

function aptText(files: readonly string[], certificates: string | undefined): string {
  const passed = files.flatMap(linesOf).filter((line) => /^\s*Acquire::[^{]*;\s*$/.test(line))
  if (certificates !== undefined) passed.push(`Acquire::https::CaInfo "${certificates}";`)
  return passed.map((line) => `${line}\n`).join('')
}

function linesOf(text: string): readonly string[] {
  return text.split('\n')
}
