import { describe, expect, it } from 'vitest'
import { hostNetworkSettings, type HostNetworkFacts } from './host-network.ts'

const facts: HostNetworkFacts = { environment: {}, resolvConf: 'nameserver 192.0.2.1\n', certificates: '', pipConfig: '', npmConfig: '', aptConfig: [] }

describe('hostNetworkSettings', () => {
  it('passes proxies and package indexes, and nothing else of the environment', () => {
    const environment = { https_proxy: 'http://proxy.example:1', PIP_INDEX_URL: 'https://index.example/simple', SECRET_TOKEN: 'x', PATH: '/bin' }
    const passed = hostNetworkSettings({ ...facts, environment }).environment
    expect(passed).toMatchObject({ https_proxy: 'http://proxy.example:1', PIP_INDEX_URL: 'https://index.example/simple' })
    expect(Object.keys(passed)).not.toContain('SECRET_TOKEN')
    expect(Object.keys(passed)).not.toContain('PATH')
  })

  it('leaves out settings that name files of the host', () => {
    const settings = hostNetworkSettings({
      ...facts,
      environment: { PIP_FIND_LINKS: '/opt/files', PIP_CACHE_DIR: '~/cache', PIP_CERT: '/etc/own.crt' },
      npmConfig: 'cafile=/etc/own.crt\nregistry=https://npm.example/\n',
    })
    expect(JSON.stringify(settings)).not.toMatch(/opt|cache|own\.crt/)
    expect(settings.files.npmrc).toContain('registry=https://npm.example/')
  })

  it('turns pip\'s file into pip\'s variables, over which the environment\'s own win', () => {
    const pipConfig = '[global]\nindex-url = https://a.example\nextra-index-url =\n  https://b.example\n  https://c.example\ncert = /etc/x\n[freeze]\ntimeout = 9\n'
    const settings = hostNetworkSettings({ ...facts, pipConfig, environment: { PIP_INDEX_URL: 'https://mine.example' } })
    expect(settings.environment).toMatchObject({ PIP_INDEX_URL: 'https://mine.example', PIP_EXTRA_INDEX_URL: 'https://b.example https://c.example' })
    expect(settings.environment).not.toHaveProperty('PIP_TIMEOUT')
    expect(settings.environment).not.toHaveProperty('PIP_CERT')
  })

  it('points every tool at the host\'s certificates, when there are any', () => {
    const settings = hostNetworkSettings({ ...facts, certificates: 'PEM' })
    expect(settings.files['certificates.pem']).toBe('PEM')
    for (const name of ['SSL_CERT_FILE', 'PIP_CERT', 'NODE_EXTRA_CA_CERTS', 'CURL_CA_BUNDLE']) expect(settings.environment[name]).toBe('/run/host-network/certificates.pem')
    expect(settings.files['apt.conf']).toContain('CaInfo "/run/host-network/certificates.pem"')
    expect(hostNetworkSettings(facts).environment).not.toHaveProperty('SSL_CERT_FILE')
  })

  it('takes only apt\'s settings for fetching', () => {
    const aptConfig = ['Acquire::http::Proxy "http://proxy.example:1";\nAPT::Install-Recommends "false";\n', 'DPkg::Post-Invoke { "rm x"; };\n']
    expect(hostNetworkSettings({ ...facts, aptConfig }).files['apt.conf']).toBe('Acquire::http::Proxy "http://proxy.example:1";\n')
  })
})
