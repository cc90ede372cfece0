import { once } from 'node:events'
import { createServer, type Agent as HttpAgent, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import type { GuestPorts } from '@osworld-e2b/contracts'
import { forwardHttp, keepAliveAgent } from './http-forward.ts'
import { listeningPort, makeLane, type Lane } from './lane.ts'
import { answerAsRelay, noSandbox, type RelayAnswer } from './relay-answer.ts'
import { portNames, type PortName, type ReportEvent } from './relay-event.ts'
import { RelayError } from './relay-error.ts'
import type { RelayTarget, TargetEndpoint } from './target.ts'
import { answerUpgrade, forwardWebSocket } from './websocket-forward.ts'

export interface RelayOptions {
  /** Guest port behind each listener. */
  readonly ports: Readonly<Record<PortName, number>>
  readonly onEvent: ReportEvent
}

export interface Relay {
  /** Ports of 127.0.0.1 that are bound for the relay's whole life. */
  readonly ports: GuestPorts
  /** Points all ports at a sandbox, or at none; cuts what is under way towards the one before. */
  setTarget(target: RelayTarget | undefined): void
  /** Cuts everything and closes the listeners. */
  close(): Promise<void>
}

interface Way {
  readonly endpoint: TargetEndpoint
  readonly agent: HttpAgent
}

interface OpenLane {
  readonly lane: Lane
  readonly server: Server
  way: Way | undefined
}

/** Binds the four loopback listeners; until `setTarget` gives them a sandbox they answer 502 in the relay's name. */
export async function startRelay({ ports, onEvent }: RelayOptions): Promise<Relay> {
  const lanes = await openLanes({ ports, onEvent })
  return {
    ports: boundPorts(lanes),
    setTarget(target) {
      for (const open of lanes) pointAt(open, target)
    },
    async close() {
      for (const open of lanes) pointAt(open, undefined)
      await Promise.all(lanes.map(({ server }) => closeServer(server)))
    },
  }
}

async function openLanes({ ports, onEvent }: RelayOptions): Promise<readonly OpenLane[]> {
  const lanes: OpenLane[] = []
  try {
    for (const name of portNames) lanes.push(await openLane(name, ports[name], onEvent))
  } catch (error) {
    await Promise.all(lanes.map(({ server }) => closeServer(server)))
    throw error
  }
  return lanes
}

async function openLane(name: PortName, guestPort: number, report: ReportEvent): Promise<OpenLane> {
  const server = createServer({ requestTimeout: 0, headersTimeout: 60_000, keepAliveTimeout: 600_000, noDelay: true })
  const open: OpenLane = { lane: makeLane({ name, guestPort, server, report }), server, way: undefined }
  server.on('request', (request, response) => onRequest(open, request, response))
  server.on('upgrade', (request, socket, head) => {
    if (!(socket instanceof Socket)) {
      socket.destroy()
      return
    }
    const refusal = refuseUpgrade(open.way, request)
    if (refusal !== undefined) answerUpgrade({ request, socket }, (response) => answerAsRelay(response, refusal))
    else if (open.way !== undefined) forwardWebSocket(open.lane, { request, socket, head }, open.way.endpoint)
  })
  server.listen(0, '127.0.0.1')
  try {
    await once(server, 'listening')
  } catch (error) {
    throw new RelayError('bind_failed', `No port of 127.0.0.1 could be bound for "${name}": check the limit on open files.`, error)
  }
  return open
}

function onRequest({ lane, way }: OpenLane, request: IncomingMessage, response: ServerResponse): void {
  const refusal = way === undefined ? noSandbox : refusePath(request)
  if (refusal !== undefined) answerAsRelay(response, refusal)
  else if (way !== undefined) forwardHttp(lane, { request, response, ...way })
}

/** The relay is no general proxy: a whole URL as the target would choose the host behind the sandbox's edge. */
function refusePath(request: IncomingMessage): RelayAnswer | undefined {
  if (request.url?.startsWith('/') === true || request.url === '*') return undefined
  return { status: 400, reason: 'bad_request', message: 'The request target must be a path.' }
}

function refuseUpgrade(way: Way | undefined, request: IncomingMessage): RelayAnswer | undefined {
  if (way === undefined) return noSandbox
  if (request.headers.upgrade?.toLowerCase() !== 'websocket') {
    return { status: 400, reason: 'bad_request', message: 'Only upgrades to WebSocket are forwarded.' }
  }
  return refusePath(request)
}

function pointAt(open: OpenLane, target: RelayTarget | undefined): void {
  const previous = open.way
  const endpoint = target?.endpoint(open.lane.guestPort)
  open.way = endpoint === undefined ? undefined : { endpoint, agent: keepAliveAgent(endpoint.baseUrl) }
  open.lane.cutAll()
  previous?.agent.destroy()
}

function boundPorts(lanes: readonly OpenLane[]): GuestPorts {
  const port = (name: PortName): number => {
    const open = lanes.find(({ lane }) => lane.name === name)
    if (open === undefined) throw new RelayError('bind_failed', `No listener was made for "${name}".`)
    return listeningPort(open.server)
  }
  return { server: port('server'), cdp: port('cdp'), vnc: port('vnc'), vlc: port('vlc') }
}

async function closeServer(server: Server): Promise<void> {
  const closed = once(server, 'close')
  server.close()
  server.closeAllConnections()
  await closed
}
