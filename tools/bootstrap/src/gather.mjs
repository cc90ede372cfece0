import { spawnSync } from 'node:child_process'
import { accessSync, constants, existsSync, readFileSync } from 'node:fs'
import { release } from 'node:os'
import { delimiter, join } from 'node:path'
import { isSupportedPython, programs, testPrograms } from './machine.mjs'

/** Debian's packages put these outside an ordinary user's path. */
const systemFolders = ['/usr/sbin', '/sbin', '/usr/bin', '/bin']

/** @returns {import('./machine.mjs').MachineFacts} */
export function gatherFacts() {
  const pythons = ['python3.12', 'python3.11', 'python3'].map(pythonVersion).filter((found) => found !== undefined)
  const best = pythons.find(({ version }) => isSupportedPython(version))
  return {
    platform: process.platform,
    kernel: release(),
    nodeVersion: process.versions.node,
    pythonVersions: [...new Set(pythons.map(({ version }) => version))],
    hasVenv: best === undefined ? false : spawnSync(best.command, ['-c', 'import ensurepip, venv']).status === 0,
    isRoot: process.getuid?.() === 0,
    hasApt: find('apt-get') !== undefined,
    userNamespaceProblem: process.platform === 'linux' ? userNamespaceProblem() : undefined,
    restriction: restriction(),
    missingPrograms: Object.keys({ ...programs, ...testPrograms }).filter((name) => find(name) === undefined),
  }
}

export function hasKeyring() {
  return existsSync('/usr/share/keyrings/debian-archive-keyring.gpg')
}

/** @param {string} command */
function pythonVersion(command) {
  const { status, stdout } = spawnSync(command, ['-c', 'import platform; print(platform.python_version())'], { encoding: 'utf8' })
  return status === 0 ? { command, version: stdout.trim() } : undefined
}

/** @param {string} name */
function find(name) {
  const folders = [...(process.env.PATH ?? '').split(delimiter), ...systemFolders]
  return folders.map((folder) => join(folder, name)).find(isExecutable)
}

/** @param {string} path */
function isExecutable(path) {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}

/** Asks the kernel instead of reading settings: containers forbid it in many ways. */
function userNamespaceProblem() {
  const { status, stderr, error } = spawnSync('unshare', ['--user', '--map-root-user', '--mount', '--pid', '--fork', 'true'], { encoding: 'utf8' })
  if (status === 0) return undefined
  return (error?.message ?? stderr.trim().split('\n').at(-1)) || `unshare ended with exit code ${status}`
}

function restriction() {
  const settings = [
    { file: '/proc/sys/kernel/apparmor_restrict_unprivileged_userns', bad: '1', remedy: 'kernel.apparmor_restrict_unprivileged_userns=0' },
    { file: '/proc/sys/kernel/unprivileged_userns_clone', bad: '0', remedy: 'kernel.unprivileged_userns_clone=1' },
    { file: '/proc/sys/user/max_user_namespaces', bad: '0', remedy: 'user.max_user_namespaces=10000' },
  ]
  return settings.find(({ file, bad }) => existsSync(file) && readFileSync(file, 'utf8').trim() === bad)?.remedy
}
