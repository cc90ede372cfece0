import { GuestAccounts } from './accounts.ts'
import { createAgentServer } from './agent-server.ts'
import { parseDefaults } from './defaults.ts'
import { FilesystemService } from './filesystem-service.ts'
import { PipeSource } from './pipe-source.ts'
import { ProcessService } from './process-service.ts'

const runtimeFolder = '/run/local-e2b'
/** The listening socket that the host made and that pid 1 keeps open for us. */
const listeningDescriptor = 3

process.umask(0o022)
const accounts = new GuestAccounts('/etc/passwd', '/etc/group')
const defaults = parseDefaults(process.env.LOCAL_E2B_AGENT ?? '')
const pipes = new PipeSource('/run/local-e2b-pipes', runtimeFolder)
const processes = new ProcessService({ defaults, pipes, runtimeFolder })
createAgentServer({ accounts, defaults, processes, files: new FilesystemService(accounts) }).listen({ fd: listeningDescriptor })
