export { dialPort } from './dial-port.ts'
export { runInSandbox, type CommandResult, type SandboxCommand } from './run-in-sandbox.ts'
export { uploadFile, type Upload } from './upload-file.ts'
export { waitForAgent } from './wait-for-agent.ts'
