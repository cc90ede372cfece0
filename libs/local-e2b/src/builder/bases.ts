import path from 'node:path'
import type { DataFolder } from '../store/data-folder.ts'
import type { BuildLog, BuildState } from './build-spec.ts'
import { accountName, type ImagePlan } from './image.ts'
import { baseKey } from './layer-key.ts'
import { folderExists } from './layer-cache.ts'
import { makeLayer } from './make-layer.ts'
import { runInGuest, type Workbench } from './workbench.ts'

const accountCommand = `set -eu
id -u ${accountName} >/dev/null 2>&1 || useradd --create-home --uid 1000 --user-group --shell /bin/bash ${accountName}
mkdir -p /etc/sudoers.d
printf '${accountName} ALL=(ALL) NOPASSWD:ALL\\n' > /etc/sudoers.d/${accountName}
chmod 440 /etc/sudoers.d/${accountName}`

/** The state that an image's first step starts from; makes the base at its first use. */
export async function stateOfBase(bench: Workbench, plan: ImagePlan, { folder, log }: { readonly folder: DataFolder; readonly log: BuildLog }): Promise<BuildState> {
  const key = baseKey(plan.base)
  const target = path.join(folder.bases, key)
  await bench.cache.alone(`base ${key}`, async () => {
    if (await folderExists(target)) return
    log('base', `making the base: mmdebstrap ${plan.base.suite} (${plan.base.packages.length} packages named)`)
    await bench.driver.makeBase(plan.base, target, (line) => log('base', line))
  })
  const bare: BuildState = { id: key, layers: [path.posix.join(path.relative(folder.root, folder.bases), key)], user: 'root', workdir: '/', environment: {} }
  return plan.addsAccount ? addAccount(bench, bare, plan) : bare
}

async function addAccount(bench: Workbench, bare: BuildState, plan: ImagePlan): Promise<BuildState> {
  const { state } = await makeLayer(bench, bare, {
    step: { type: 'ACCOUNT', args: [accountCommand], filesHash: null },
    network: 'loopback',
    forcedBy: undefined,
    work: async (sandbox) => {
      await runInGuest(bench, sandbox, { command: accountCommand, user: 'root', cwd: '/' })
      return { user: plan.user, workdir: plan.workdir, environment: {} }
    },
  })
  return state
}
