import { request as httpRequest } from 'node:http'
import type { Socket } from 'node:net'
import { LocalE2bError } from '../error.ts'

/** A connection to a port of a guest's loopback; throws `port_closed`, or `agent_unreachable` when the sandbox is gone. */
export function dialPort(agentSocket: string, port: number): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const request = httpRequest({ socketPath: agentSocket, method: 'CONNECT', path: `127.0.0.1:${port}`, agent: false })
    request.once('connect', (response, socket: Socket, head) => {
      if (response.statusCode === 200) {
        if (head.length > 0) socket.unshift(head)
        resolve(socket)
        return
      }
      socket.destroy()
      reject(new LocalE2bError('port_closed', `Nothing listens on port ${port} of this sandbox.`))
    })
    request.once('error', (cause) => {
      reject(new LocalE2bError('agent_unreachable', `The guest agent at ${agentSocket} could not be reached: ${cause.message}`, { cause }))
    })
    request.end()
  })
}
