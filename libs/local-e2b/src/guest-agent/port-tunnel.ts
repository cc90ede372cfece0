import type { IncomingMessage } from 'node:http'
import { connect } from 'node:net'
import type { Duplex } from 'node:stream'

/** Answers `CONNECT 127.0.0.1:<port>`: 200 and then the port's bytes both ways, 502 when it is closed, 400 for another host. */
export function tunnelToPort(request: IncomingMessage, client: Duplex, head: Buffer): void {
  const port = Number(/^(?:127\.0\.0\.1|localhost):(\d{1,5})$/.exec(request.url ?? '')?.[1])
  if (!(port >= 1 && port <= 65_535)) {
    client.end('HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\nconnection: close\r\n\r\n')
    return
  }
  const target = connect({ host: '127.0.0.1', port, allowHalfOpen: true })
  client.on('error', () => target.destroy())
  target.once('error', () => {
    if (!target.connecting && target.bytesWritten > 0) client.destroy()
    else client.end('HTTP/1.1 502 Bad Gateway\r\ncontent-length: 0\r\nconnection: close\r\n\r\n')
  })
  target.once('connect', () => {
    target.removeAllListeners('error')
    target.on('error', () => client.destroy())
    target.setNoDelay(true)
    client.write('HTTP/1.1 200 Connection Established\r\n\r\n')
    if (head.length > 0) target.write(head)
    client.pipe(target)
    target.pipe(client)
    client.once('close', () => target.destroy())
  })
}
