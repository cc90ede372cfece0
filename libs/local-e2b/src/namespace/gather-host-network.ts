import { existsSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { hostNetworkSettings, type HostNetworkSettings } from './host-network.ts'
import { readOptional } from './runtime-folder.ts'

export interface HostNetworkSource {
  readonly environment: Readonly<Record<string, string | undefined>>
  readonly homeFolder: string
}

const systemCertificates = ['/etc/ssl/certs/ca-certificates.crt', '/etc/pki/tls/certs/ca-bundle.crt', '/etc/ssl/cert.pem']
const aptFolder = '/etc/apt/apt.conf.d'

/** Reads this machine's network and package-manager settings for template builds. */
export async function gatherHostNetwork({ environment, homeFolder }: HostNetworkSource): Promise<HostNetworkSettings> {
  const pipFiles = ['/etc/pip.conf', join(homeFolder, '.pip/pip.conf'), join(homeFolder, '.config/pip/pip.conf'), environment.PIP_CONFIG_FILE]
  const npmFile = environment.NPM_CONFIG_USERCONFIG ?? environment.npm_config_userconfig ?? join(homeFolder, '.npmrc')
  return hostNetworkSettings({
    environment,
    resolvConf: await readOptional('/etc/resolv.conf'),
    certificates: await firstText([environment.SSL_CERT_FILE, ...systemCertificates]),
    pipConfig: (await readAll(pipFiles)).join('\n'),
    npmConfig: await readOptional(npmFile),
    aptConfig: await readAll(await aptFiles()),
  })
}

async function aptFiles(): Promise<readonly string[]> {
  const names = existsSync(aptFolder) ? await readdir(aptFolder) : []
  return ['/etc/apt/apt.conf', ...names.sort().map((name) => join(aptFolder, name))]
}

function readAll(files: readonly (string | undefined)[]): Promise<readonly string[]> {
  return Promise.all(files.filter((file) => file !== undefined).map(readOptional))
}

async function firstText(files: readonly (string | undefined)[]): Promise<string> {
  for (const file of files) {
    const text = file === undefined ? '' : await readOptional(file)
    if (text !== '') return text
  }
  return ''
}
