import { once } from 'node:events'
import { createServer, request as httpRequest, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface Detour {
  readonly url: string
  /** Lets delayed answers go. */
  release(): void
  close(): Promise<void>
}

/** The API behind a server that holds back or spoils the answer of one call. */
export async function startDetour(apiUrl: string, spoiledCall: string, how: 'delay' | 'fail'): Promise<Detour> {
  let release = (): void => undefined
  const released = new Promise<void>((resolve) => (release = resolve))
  const detour: Server = createServer((request, response) => {
    const isSpoiled = `${request.method ?? ''} ${request.url ?? ''}`.startsWith(spoiledCall)
    if (isSpoiled && how === 'fail') {
      response.writeHead(500, { 'content-type': 'application/json' }).end('{"code":500,"message":"stuck"}')
      return
    }
    const onward = httpRequest(`${apiUrl}${request.url ?? ''}`, { method: request.method, headers: { ...request.headers, host: new URL(apiUrl).host } }, (answer) => {
      const pass = (): void => {
        response.writeHead(answer.statusCode ?? 502, answer.headers)
        answer.pipe(response)
      }
      if (isSpoiled) void released.then(pass)
      else pass()
    })
    onward.on('error', () => response.destroy())
    request.pipe(onward)
  }).listen(0, '127.0.0.1')
  await once(detour, 'listening')
  return {
    url: `http://127.0.0.1:${(detour.address() as AddressInfo).port}`,
    release: () => release(),
    async close() {
      const closed = once(detour, 'close')
      detour.close()
      detour.closeAllConnections()
      await closed
    },
  }
}
