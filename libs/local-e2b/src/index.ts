export { attachLocalE2b, type AttachedLocalE2b, type AttachLocalE2bOptions } from './attach/attach-local-e2b.ts'
export {
  holdDataFolder,
  openFolderCare,
  planDataFolder,
  readDataFolder,
  readServing,
  removeFromDataFolder,
  type DataFolderFacts,
  type DataFolderPlan,
  type DataFolderPolicy,
  type DataFolderRemoval,
  type FolderCare,
  type FolderCareOptions,
  type Serving,
} from './clean/index.ts'
export type { BaseImage, NetworkMode, RunningSandbox, SandboxDefaults, SandboxDriver, StartRequest } from './driver.ts'
export { LocalE2bError, type LocalE2bErrorCode } from './error.ts'
export {
  createNamespaceDriver,
  gatherHostNetwork,
  probeMachine,
  type Account,
  type HostNetworkSettings,
  type HostNetworkSource,
  type MachineFinding,
  type MachineProbe,
  type NamespaceDriverOptions,
} from './namespace/index.ts'
export type { Clock } from './server/clock.ts'
export type { Log } from './server/log.ts'
export { readServerFile } from './server/server-file.ts'
export { startLocalE2b, type LocalE2b, type LocalE2bLimits, type LocalE2bOptions } from './server/start.ts'
