/** Whether a path of the CDP port gives a document with addresses in it (`/json/protocol` is long and has none). */
export function holdsAddresses(path: string): boolean {
  return /^\/json(\/|$)/.test(path) && !path.startsWith('/json/protocol')
}

/**
 * Rewrites the addresses in an answer of Chrome's `/json` pages to `address` (`host:port` of the local listener); gives
 * undefined when the text is not such a document.
 */
export function rewriteAddresses(text: string, address: string): string | undefined {
  let document: unknown
  try {
    document = JSON.parse(text)
  } catch {
    return undefined
  }
  return JSON.stringify(Array.isArray(document) ? document.map((target) => rewriteTarget(target, address)) : rewriteTarget(document, address), undefined, 2)
}

function rewriteTarget(target: unknown, address: string): unknown {
  if (typeof target !== 'object' || target === null) return target
  return Object.fromEntries(Object.entries(target).map(([name, value]) => [name, rewriteField(name, value, address)]))
}

function rewriteField(name: string, value: unknown, address: string): unknown {
  if (typeof value !== 'string') return value
  if (name === 'webSocketDebuggerUrl') return value.replace(/^wss?:\/\/[^/]*/, `ws://${address}`)
  if (name === 'devtoolsFrontendUrl') return value.replace(/([?&])wss?=[^/&]*/, `$1ws=${address}`)
  return value
}
