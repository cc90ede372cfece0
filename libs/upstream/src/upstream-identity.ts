import { parseRequirements, readRequirementsFile } from './requirements.ts'
import { UpstreamError } from './upstream-error.ts'

/** Which OSWorld code decides a score. */
export interface UpstreamIdentity {
  readonly name: string
  readonly version: string
  /** SHA-256 of the wheel. */
  readonly sha256: string
}

const packageName = 'desktop-env'

/** Reads the pinned OSWorld package from a profile's requirements; anything but one pin with one hash is refused. */
export async function upstreamIdentity(requirementsFile: string): Promise<UpstreamIdentity> {
  const pins = parseRequirements(await readRequirementsFile(requirementsFile)).filter(({ name }) => name === packageName)
  const [pin] = pins
  const sha256 = pin?.sha256[0]
  if (pin === undefined || sha256 === undefined || pins.length > 1 || pin.sha256.length > 1) {
    throw new UpstreamError('requirements_unreadable', `${requirementsFile} must pin ${packageName} once, as ${packageName}==VERSION with one --hash=sha256: of its wheel.`)
  }
  return { name: packageName, version: pin.version, sha256 }
}
