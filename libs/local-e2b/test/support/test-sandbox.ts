import { readFileSync } from 'node:fs'
import type { SandboxDefaults } from '../../src/driver.ts'
import { findSpareRange } from '../../src/namespace/id-map.ts'
import { bundle } from './bundle.ts'
import { HostedDriver } from './hosted-driver.ts'
import { ownAccount } from './test-account.ts'
import { testDataFolder, tinyBase } from './test-place.ts'

export interface TestSandbox {
  readonly agentSocket: string
  close(): Promise<void>
}

const account = ownAccount()

/** Why this machine's account cannot run a sandbox, if it cannot. */
export const whyNoSandbox: string | undefined =
  account.uid === 0 || findSpareRange(readFileSync('/etc/subuid', 'utf8'), account) !== undefined ? undefined : 'this account has no spare ids in /etc/subuid'

/** One sandbox on the tiny base image, with a driver of its own. */
export async function openTestSandbox(defaults: SandboxDefaults): Promise<TestSandbox> {
  const program = await bundle('test/support/driver-host.ts')
  const agentFile = await bundle('src/guest-agent/main.ts')
  const driver = new HostedDriver({ account, program, agentFile, dataFolder: await testDataFolder(account) })
  const sandbox = await driver.start({ id: `a${process.pid}x${driver.process.pid ?? 0}`, layers: [await tinyBase(driver)], defaults })
  return { agentSocket: sandbox.agentSocket, close: () => driver.close() }
}
