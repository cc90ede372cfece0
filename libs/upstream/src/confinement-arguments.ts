import { type AttemptLimits, defaultLimits } from './confinement-limits.ts'

/** What the machine's bubblewrap can do, as `checkConfinement` found it. */
export interface Bubblewrap {
  readonly path: string
  /** From version 0.8: the confined process can make no user namespace of its own and so gets no capability back, and its `/tmp` has a size. */
  readonly disablesUserNamespaces: boolean
}

const requiredSystemFolder = '/usr'

/** Links into `/usr` or folders of their own, by distribution; bound alike. */
const systemFolders = ['/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32']

/** What programs read to start, to resolve names, to trust certificates and to draw text; nothing that holds a secret. */
const systemFiles = [
  ...['/etc/ld.so.cache', '/etc/ld.so.conf', '/etc/ld.so.conf.d', '/etc/alternatives'],
  ...['/etc/hosts', '/etc/host.conf', '/etc/nsswitch.conf', '/etc/resolv.conf', '/etc/gai.conf', '/etc/services', '/etc/protocols'],
  ...['/etc/passwd', '/etc/group', '/etc/localtime', '/etc/timezone', '/etc/mime.types'],
  ...['/etc/ssl/certs', '/etc/ssl/openssl.cnf', '/etc/ca-certificates', '/etc/pki/tls/certs', '/etc/pki/ca-trust/extracted', '/etc/fonts'],
]

/** Namespaces of its own but the network, no capability, no terminal, and an end with its parent. */
export function namespaceArguments({ disablesUserNamespaces }: Pick<Bubblewrap, 'disablesUserNamespaces'>): string[] {
  return [
    ...['--unshare-user', '--unshare-pid', '--unshare-ipc', '--unshare-uts', '--unshare-cgroup-try'],
    ...(disablesUserNamespaces ? ['--disable-userns'] : []),
    ...['--die-with-parent', '--new-session', '--cap-drop', 'ALL', '--hostname', 'attempt'],
  ]
}

/** The system read-only, and `/proc`, `/dev` and `/tmp` of its own; no `/run`, no home folders. */
export function systemArguments({ disablesUserNamespaces }: Pick<Bubblewrap, 'disablesUserNamespaces'>, limits: AttemptLimits = defaultLimits): string[] {
  const size = (bytes: number) => (disablesUserNamespaces ? ['--size', `${bytes}`] : [])
  return [
    ...['--ro-bind', requiredSystemFolder, requiredSystemFolder],
    ...[...systemFolders, ...systemFiles].flatMap((path) => ['--ro-bind-try', path, path]),
    ...['--proc', '/proc', '--dev', '/dev'],
    ...[...size(limits.sharedMemoryBytes), '--tmpfs', '/dev/shm', ...size(limits.temporaryBytes), '--tmpfs', '/tmp'],
  ]
}

/**
 * Comes after every bind. The kernel lets real root write `/proc/sys` and `/proc/sysrq-trigger` without any capability,
 * and a user namespace does not make root another user, so only a read-only `/proc` protects the machine from it. `/dev` is memory without a limit as long as it can be written.
 */
export function sealArguments(): string[] {
  return ['--remount-ro', '/proc', '--remount-ro', '/dev', '--remount-ro', '/']
}
