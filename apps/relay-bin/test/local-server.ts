import { mkdir, mkdtemp, rm, symlink } from 'node:fs/promises'
import { tmpdir, userInfo } from 'node:os'
import { join } from 'node:path'
import { E2B } from 'e2b'
import { build } from 'esbuild'
import type { Connection, TemplateRef } from '@osworld-e2b/contracts'
import { createNamespaceDriver, startLocalE2b } from '@osworld-e2b/local-e2b'
import { secret } from '@osworld-e2b/redaction'

const apiKey = `e2b_${'5'.repeat(40)}`

/** A guest server that says what a ready desktop says; `echo` shows what reached it. */
const guestProgram = `
import http.server, json
probe = {"window_manager": "GNOME Shell", "desktop_window": True, "width": 1920, "height": 1080}
class Guest(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def answer(self, body):
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
    def do_GET(self):
        self.answer(json.dumps({"path": self.path, "headers": dict(self.headers)}).encode() if self.path == "/echo" else b"frame")
    def do_POST(self):
        self.rfile.read(int(self.headers.get("Content-Length", "0")))
        self.answer(json.dumps({"status": "success", "output": json.dumps(probe), "error": "", "returncode": 0}).encode())
    def log_message(self, *args):
        pass
http.server.ThreadingHTTPServer(("127.0.0.1", 5000), Guest).serve_forever()
`

export interface LocalServer {
  readonly connection: Connection
  readonly client: E2B
  /** Its guest answers like a ready desktop. */
  readonly readyTemplate: TemplateRef
  /** Nothing answers in its guest. */
  readonly emptyTemplate: TemplateRef
  /** Idempotent. */
  close(): Promise<void>
}

/** A real local E2B server in this process, with two small templates. Its base image is kept between test runs. */
export async function startLocalServer(): Promise<LocalServer> {
  const dataFolder = await mkdtemp(join(tmpdir(), 'relay-'))
  const agentFile = join(dataFolder, 'guest-agent.cjs')
  await bundleAgent(agentFile)
  const cachedBases = join(process.env['OSWORLD_TEST_CACHE'] ?? join(tmpdir(), `osworld-e2b-test-cache-${userInfo().uid}`), 'bases')
  await mkdir(cachedBases, { recursive: true })
  await symlink(cachedBases, join(dataFolder, 'bases'))
  const driver = namespaceDriver(dataFolder, agentFile)
  const server = await startLocalE2b({ dataFolder, driver, apiKey: secret(apiKey, 'API key'), pid: process.pid, log: silentLog })
  const connection = { route: 'local', api_key: apiKey, api_url: server.url, sandbox_url: server.url } as const
  const client = new E2B({ apiKey, apiUrl: server.url, sandboxUrl: server.url, debug: false })
  const emptyTemplate = await buildTemplate(client, 'relay-empty')
  const close = async (): Promise<void> => {
    await server.close()
    const cleaner = namespaceDriver(dataFolder, agentFile)
    await cleaner.removeFolder(join(dataFolder, 'layers'))
    await cleaner.close()
    await rm(dataFolder, { recursive: true, force: true })
  }
  let closing: Promise<void> | undefined
  return {
    connection,
    client,
    emptyTemplate,
    readyTemplate: await buildTemplate(client, 'relay-ready', `python3 -c '${guestProgram}'`),
    close: () => (closing ??= close()),
  }
}

async function buildTemplate(client: E2B, name: string, startCommand?: string): Promise<TemplateRef> {
  const base = client.Template({ fileContextPath: tmpdir() }).fromTemplate('base')
  const template = startCommand === undefined ? base : base.setStartCmd(startCommand, 'true')
  const { buildId } = await client.Template.build(template, name, { cpuCount: 1, memoryMB: 512 })
  return `${name}:${buildId}`
}

function namespaceDriver(dataFolder: string, agentFile: string): ReturnType<typeof createNamespaceDriver> {
  const { uid, gid, username } = userInfo()
  return createNamespaceDriver({
    dataFolder,
    agentFile,
    nodeFile: process.execPath,
    account: { uid, gid, name: username },
    pid: process.pid,
    environment: process.env,
    hostNetwork: { environment: {}, files: {} },
    log: () => undefined,
  })
}

async function bundleAgent(outfile: string): Promise<void> {
  const entry = join(import.meta.dirname, '../../../libs/local-e2b/src/guest-agent/main.ts')
  await build({ entryPoints: [entry], outfile, bundle: true, platform: 'node', format: 'cjs', target: 'node20', conditions: ['@osworld-e2b/source'], logLevel: 'error' })
}

const silentLog = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined }
