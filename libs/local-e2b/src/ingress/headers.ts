/** Headers as Node's `rawHeaders`: name, value, name, value. */
export type RawHeaders = readonly string[]

const hopByHop = new Set(['connection', 'keep-alive', 'proxy-connection', 'proxy-authenticate', 'proxy-authorization', 'te', 'trailer', 'upgrade'])

/** Ours alone: the guest must not see who routed it, nor the token of its own ports. Other keys may be for the guest's own services. */
const routingHeaders = new Set(['e2b-sandbox-id', 'e2b-sandbox-port', 'e2b-traffic-access-token'])

export interface GuestHeaderOptions {
  /** Host that the guest shall see instead of the one that was asked for. */
  readonly maskedHost: string | undefined
  /** Keeps `Connection` and `Upgrade`, for a request that changes the protocol. */
  readonly keepsUpgrade: boolean
}

/** Request headers towards a guest port: canonical names as Go writes them, without routing, traffic token and what concerns one hop. */
export function guestHeaders(raw: RawHeaders, { maskedHost, keepsUpgrade }: GuestHeaderOptions): string[] {
  const dropped = namedByConnection(raw)
  const headers: string[] = []
  for (const [name, value] of pairs(raw)) {
    const lower = name.toLowerCase()
    if (routingHeaders.has(lower) || lower === 'expect') continue
    const isKeptForUpgrade = keepsUpgrade && (lower === 'connection' || lower === 'upgrade')
    if (!isKeptForUpgrade && (hopByHop.has(lower) || (dropped.has(lower) && !keepsUpgrade))) continue
    if (lower === 'host' && maskedHost !== undefined) headers.push('Host', maskedHost, 'X-Forwarded-Host', value)
    else headers.push(canonicalName(name), value)
  }
  // Asked to close, a server that answers before it read the body would break our writing and lose its answer.
  if (!keepsUpgrade) headers.push('Connection', 'keep-alive')
  return headers
}

/** Headers of a guest's answer towards the client; framing is Node's again. */
export function clientHeaders(raw: RawHeaders): string[] {
  const dropped = namedByConnection(raw)
  return pairs(raw)
    .filter(([name]) => {
      const lower = name.toLowerCase()
      return !hopByHop.has(lower) && !dropped.has(lower) && lower !== 'transfer-encoding'
    })
    .flat()
}

/** `${PORT}` in the mask stands for the guest's port. */
export function maskedHost(mask: string | undefined, port: number): string | undefined {
  return mask === undefined || mask === '' ? undefined : mask.replaceAll('${PORT}', String(port))
}

/** `sec-websocket-key` becomes `Sec-Websocket-Key`, as Go's servers and clients spell it. */
export function canonicalName(name: string): string {
  return name
    .toLowerCase()
    .split('-')
    .map((part) => part.charAt(0).toUpperCase() + part.slice(1))
    .join('-')
}

function namedByConnection(raw: RawHeaders): ReadonlySet<string> {
  const named = pairs(raw).filter(([name]) => name.toLowerCase() === 'connection')
  return new Set(named.flatMap(([, value]) => value.split(',')).map((name) => name.trim().toLowerCase()))
}

function pairs(raw: RawHeaders): [name: string, value: string][] {
  const found: [string, string][] = []
  for (let index = 0; index + 1 < raw.length; index += 2) found.push([raw[index] ?? '', raw[index + 1] ?? ''])
  return found
}
