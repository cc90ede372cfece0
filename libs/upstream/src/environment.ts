export type Environment = Readonly<Record<string, string | undefined>>

/** What finding and starting an interpreter takes; the last two choose among the versions of pyenv. */
export const interpreterNames: readonly string[] = ['PATH', 'HOME', 'LANG', 'TMPDIR', 'PYENV_ROOT', 'PYENV_VERSION']

/** How this machine reaches its package index. Settings that say where or what to install are not among them. */
export const packageIndexNames: readonly string[] = [
  ...['PIP_INDEX_URL', 'PIP_EXTRA_INDEX_URL', 'PIP_FIND_LINKS', 'PIP_NO_INDEX', 'PIP_TRUSTED_HOST', 'PIP_PROXY'],
  ...['PIP_CERT', 'PIP_CLIENT_CERT', 'PIP_KEYRING_PROVIDER', 'PIP_CONFIG_FILE', 'PIP_CACHE_DIR', 'PIP_NO_CACHE_DIR'],
  ...['PIP_DEFAULT_TIMEOUT', 'PIP_TIMEOUT', 'PIP_RETRIES', 'XDG_CACHE_HOME', 'XDG_CONFIG_HOME', 'NETRC'],
  ...['SSL_CERT_FILE', 'SSL_CERT_DIR', 'REQUESTS_CA_BUNDLE', 'CURL_CA_BUNDLE'],
  ...['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY', 'NO_PROXY', 'http_proxy', 'https_proxy', 'all_proxy', 'no_proxy'],
]

/** The named variables that are set; a child gets these and nothing else. */
export function pick(environment: Environment, names: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    names.flatMap((name) => {
      const value = environment[name]
      return value === undefined ? [] : [[name, value]]
    }),
  )
}
