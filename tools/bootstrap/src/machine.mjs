// What this project needs of a machine: facts in, findings out.

/**
 * @typedef {object} MachineFacts
 * @property {string} platform `process.platform`
 * @property {string} kernel release, such as `6.1.0`
 * @property {string} nodeVersion without the `v`
 * @property {readonly string[]} pythonVersions versions of the interpreters found, best first
 * @property {boolean} hasVenv whether the chosen Python can make environments
 * @property {boolean} isRoot
 * @property {boolean} hasApt
 * @property {string | undefined} userNamespaceProblem what the kernel said when one was asked for
 * @property {string | undefined} restriction name of a setting that forbids user namespaces
 * @property {readonly string[]} missingPrograms names of `programs` that are not on the path
 */

/** Programs from system packages, and the Debian/Ubuntu package that brings each. */
export const programs = { mmdebstrap: 'mmdebstrap', bwrap: 'bubblewrap', newuidmap: 'uidmap', unshare: 'util-linux', setpriv: 'util-linux' }

/** Further programs that only the tests use; without them some tests are skipped with a sentence. */
export const testPrograms = { Xvfb: 'xvfb', wmctrl: 'wmctrl', ffmpeg: 'ffmpeg', openbox: 'openbox', xterm: 'xterm' }

/** Keys that a bootstrap of Debian is verified with; Ubuntu lacks them. */
export const keyringPackage = 'debian-archive-keyring'

const oldestKernel = [5, 11]
/** What the packages in the lock file ask for; odd releases between are left out by them. */
const oldestNode = { 20: [20, 19], 22: [22, 12] }

/**
 * Why this machine can never run sandboxes, as one sentence; undefined when it can.
 *
 * @param {MachineFacts} facts
 * @returns {string | undefined}
 */
export function refusal(facts) {
  if (facts.platform !== 'linux') {
    return `Sandboxes are Linux namespaces and this is ${facts.platform}; use a Linux machine or virtual machine (Debian 12 or Ubuntu).`
  }
  if (!isSupportedNode(facts.nodeVersion)) return `Node ${facts.nodeVersion} does not fit; install Node 20 (20.19 or later), or 22.12 or later.`
  if (isOlder(facts.kernel, oldestKernel)) {
    return `Linux ${facts.kernel} is too old: overlay file systems in user namespaces need 5.11 or later; update the kernel.`
  }
  if (!facts.pythonVersions.some(isSupportedPython)) {
    const found = facts.pythonVersions.length === 0 ? 'none was found' : `found ${facts.pythonVersions.join(', ')}`
    return `OSWorld's evaluators need Python 3.11 or 3.12 and ${found}; install one of them (Debian 12: apt-get install python3).`
  }
  if (facts.userNamespaceProblem !== undefined) return namespaceRefusal(facts)
  return undefined
}

/** @param {MachineFacts} facts */
function namespaceRefusal(facts) {
  const remedy = facts.restriction === undefined ? 'allow unprivileged user namespaces, or leave the container that forbids them' : `set ${facts.restriction}`
  return `User namespaces cannot be made here (${facts.userNamespaceProblem}); ${remedy}, or run as root outside a container.`
}

/** @param {string} version */
export function isSupportedPython(version) {
  return /^3\.(11|12)(\.|$)/.test(version)
}

/**
 * Debian/Ubuntu packages to install.
 *
 * @param {MachineFacts} facts
 * @param {boolean} hasKeyring
 * @param {Readonly<Record<string, string>>} [wanted] programs and the packages that bring them
 * @returns {readonly string[]}
 */
export function missingPackages(facts, hasKeyring, wanted = programs) {
  const fromPrograms = Object.entries(wanted)
    .filter(([program]) => facts.missingPrograms.includes(program))
    .map(([, name]) => name)
  return [...new Set([...fromPrograms, ...(facts.hasVenv ? [] : ['python3-venv']), ...(hasKeyring ? [] : [keyringPackage])])].sort()
}

/** @param {string} version */
function isSupportedNode(version) {
  const major = Number(version.split('.')[0])
  if (major === 20) return !isOlder(version, oldestNode[20])
  return major >= 22 && major !== 23 && !isOlder(version, oldestNode[22])
}

/** @param {string} version @param {readonly number[]} oldest */
function isOlder(version, oldest) {
  const parts = version.split(/[.-]/).map(Number)
  for (const [index, least] of oldest.entries()) {
    const part = parts[index] ?? 0
    if (part !== least) return part < least
  }
  return false
}
