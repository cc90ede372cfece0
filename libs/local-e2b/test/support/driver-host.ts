import { createInterface } from 'node:readline'
import type { BaseImage, RunningSandbox, StartRequest } from '../../src/driver.ts'
import { createNamespaceDriver, type NamespaceDriverOptions } from '../../src/namespace/index.ts'
import { LocalE2bError } from '../../src/error.ts'

/** A program that owns one driver and does what its standard input says, so that tests can run it as any account and kill it. */
type Order =
  | { readonly do: 'start'; readonly request: StartRequest }
  | { readonly do: 'stop' | 'destroy'; readonly sandbox: string }
  | { readonly do: 'keepLayer'; readonly sandbox: string; readonly target: string }
  | { readonly do: 'makeBase'; readonly image: BaseImage; readonly target: string }
  | { readonly do: 'removeFolder'; readonly folder: string }
  | { readonly do: 'prepare' | 'sweep' | 'close' }

const options = JSON.parse(process.argv[2] ?? '{}') as Omit<NamespaceDriverOptions, 'log' | 'pid' | 'nodeFile'>
const driver = createNamespaceDriver({ ...options, nodeFile: process.execPath, pid: process.pid, log: () => undefined })
const sandboxes = new Map<string, RunningSandbox>()

const orders = createInterface({ input: process.stdin })
orders.on('close', () => { void driver.close().finally(() => process.exit()) })
orders.on('line', (line) => {
  const { number, order } = JSON.parse(line) as { number: number; order: Order }
  obey(order).then(
    (result) => { reply({ number, result: result ?? null }) },
    (error: unknown) => { reply({ number, error: String(error), code: error instanceof LocalE2bError ? error.code : '' }) },
  )
})

function reply(message: object): void {
  process.stdout.write(`${JSON.stringify(message)}\n`)
}

async function obey(order: Order): Promise<unknown> {
  switch (order.do) {
    case 'prepare':
      return driver.prepare()
    case 'sweep':
      return driver.sweep()
    case 'close':
      return driver.close()
    case 'removeFolder':
      return driver.removeFolder(order.folder)
    case 'makeBase': {
      const lines: string[] = []
      await driver.makeBase(order.image, order.target, (text) => lines.push(text))
      return lines
    }
    case 'start': {
      const sandbox = await driver.start(order.request)
      sandboxes.set(sandbox.id, sandbox)
      void sandbox.exited.then(() => { reply({ exited: sandbox.id }) })
      const { id, folder, agentSocket, initPid, upperFolder } = sandbox
      return { id, folder, agentSocket, initPid, upperFolder }
    }
    case 'stop':
      return named(order.sandbox).stop()
    case 'destroy':
      return named(order.sandbox).destroy()
    case 'keepLayer':
      return driver.keepLayer(named(order.sandbox), order.target)
  }
}

function named(id: string): RunningSandbox {
  const sandbox = sandboxes.get(id)
  if (sandbox === undefined) throw new Error(`no sandbox ${id}`)
  return sandbox
}
