import type { Route } from '@osworld-e2b/contracts'

export interface SandboxSize {
  readonly cpuCount: number
  readonly memoryGib: number
}

/** Dollars of one sandbox for one hour, and where the figure is from; null is unknown. */
export type SandboxPrice = { readonly hourUsd: number; readonly origin: string } | { readonly hourUsd: null }

/** E2B's list prices by the hour in hundredths of a cent, so that sums are exact: $0.0504 a vCPU and $0.0162 a GiB of memory. */
const listPrice = { cpu: 504, memoryGib: 162 } as const
const inOneDollar = 10_000

/** What the desktop template asks for. */
export const desktopSize: SandboxSize = { cpuCount: 4, memoryGib: 8 }

/** What the user said, else nothing on this machine, else E2B's list price; a compatible server has a price of its own. */
export function sandboxPrice(route: Route, given: number | undefined, size: SandboxSize = desktopSize): SandboxPrice {
  if (given !== undefined) return { hourUsd: given, origin: 'as given' }
  if (route === 'local') return { hourUsd: 0, origin: 'this machine' }
  if (route !== 'e2b') return { hourUsd: null }
  const hourUsd = (size.cpuCount * listPrice.cpu + size.memoryGib * listPrice.memoryGib) / inOneDollar
  return { hourUsd, origin: `E2B's list price of ${size.cpuCount} vCPU and ${size.memoryGib} GiB` }
}
