export { agentSchema, type Agent, type AgentSettings } from './agent.ts'
export { aggregateSchema, scoreSchema, type Aggregate, type Score } from './aggregate.ts'
export { assetIndexSchema, type AssetIndex, type RecordedAsset } from './asset-index.ts'
export {
  attemptConfigSchema,
  attemptMessageSchema,
  coordinatorMessageSchema,
  guestPortsSchema,
  scriptedActionSchema,
  scriptSchema,
  timingSchema,
  type AttemptAgent,
  type AttemptConfig,
  type AttemptMessage,
  type CoordinatorMessage,
  type GuestPorts,
  type Script,
  type ScriptedAction,
  type Timing,
} from './attempt-protocol.ts'
export { catalogEntrySchema, catalogSchema, type Catalog, type CatalogEntry } from './catalog.ts'
export { cleaningKindSchema, cleanReportSchema, type CleaningKind, type CleanReport } from './clean.ts'
export { capabilitiesSchema, proxyFileSchema, secretFolder, secretMountSchema, type Capabilities, type ProxyEntry, type SecretMount } from './capabilities.ts'
export {
  comparisonSchema,
  contractSchema,
  longestAttemptSeconds,
  operationSchema,
  scoringIdentitySchema,
  type Budget,
  type Comparison,
  type Contract,
  type Endpoint,
  type Operation,
  type ScoringIdentity,
} from './contract.ts'
export { contractFileSchema, type ContractFile } from './contract-file.ts'
export { readContractFile } from './read-contract-file.ts'
export { doctorCheckSchema, doctorReportSchema, type DoctorCheck, type DoctorReport } from './doctor.ts'
export { inventorySchema, type Inventory } from './inventory.ts'
export {
  ledgerEventSchema,
  maxMessageLength,
  notRunReasonSchema,
  pauseReasonSchema,
  type AttemptEvent,
  type LedgerEvent,
  type NotRunReason,
  type Orphans,
  type PauseReason,
} from './ledger.ts'
export { localServerFileSchema, localServerReadySchema, type LocalServerFile, type LocalServerReady } from './local-server.ts'
export {
  invalidReasons,
  invalidReasonSchema,
  outcomeSchema,
  phases,
  phaseSchema,
  type Cause,
  type InvalidReason,
  type Outcome,
  type Phase,
} from './outcome.ts'
export {
  callOutcomeSchema,
  modelApiSchema,
  modelCallSchema,
  modelUsageSchema,
  priceTableSchema,
  tokenCountsSchema,
  type CallOutcome,
  type ModelApi,
  type ModelCall,
  type ModelUsage,
  type PriceTable,
  type TokenCounts,
} from './model.ts'
export { byNearness, editDistance, nearest } from './nearest.ts'
export { DocumentError, parseDocument, parseJsonDocument } from './parse.ts'
export { preflightEvidenceSchema, type PreflightEvidence } from './preflight.ts'
export {
  relativePathSchema,
  routeSchema,
  sha256Schema,
  taskKeySchema,
  templateRefSchema,
  timestampSchema,
  type Route,
  type TaskKey,
  type TemplateRef,
} from './primitives.ts'
export {
  commitSchema,
  profilesSchema,
  provenanceSchema,
  type GitProfile,
  type Profiles,
  type ProfileSuite,
  type Provenance,
} from './profiles.ts'
export { buildReceiptSchema, recipeSchema, type BuildReceipt, type Recipe } from './recipe.ts'
export { relayEventNames, relayEventSchema, type RelayEventLine } from './relay-event.ts'
export {
  cleanupSchema,
  connectionSchema,
  relayConfigureSchema,
  relayMessageSchema,
  relayRequestSchema,
  type Cleanup,
  type Connection,
  type RelayConfigure,
  type RelayMessage,
  type RelayRequest,
} from './relay-protocol.ts'
export { runDocumentSchema, runLockSchema, type RunDocument, type RunLock } from './run-document.ts'
export { runStatusSchema, type RunStatus } from './run-status.ts'
export { runtimeIdentitySchema, type RuntimeIdentity } from './runtime-identity.ts'
export { setupReportSchema, type SetupReport } from './setup-report.ts'
export { osworldTaskSchema, suiteSchema, upstreamManifestSchema, type OsworldTask, type Suite } from './suite.ts'
export { suiteInventorySchema, type SuiteInventory } from './suite-inventory.ts'
export { verifyReportSchema, type VerifyFault, type VerifyReport } from './verify-report.ts'
