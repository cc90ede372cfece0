/** What one attempt may use of the machine. */
export interface AttemptLimits {
  /** Largest single file. */
  readonly fileBytes: number
  /** Private memory of one process; several processes together can use more. */
  readonly memoryBytes: number
  /** Processes and threads. The kernel does not count those of real root. */
  readonly processes: number
  /** Its `/tmp`, which is memory; from bubblewrap 0.8. */
  readonly temporaryBytes: number
  /** Its `/dev/shm`, likewise. */
  readonly sharedMemoryBytes: number
}

const gibibyte = 1024 ** 3

export const defaultLimits: AttemptLimits = {
  fileBytes: 4 * gibibyte,
  memoryBytes: 8 * gibibyte,
  processes: 1_024,
  temporaryBytes: gibibyte,
  sharedMemoryBytes: gibibyte / 4,
}

/**
 * Runs in the attempt's place before it and becomes it: limits that only the system may raise again (setrlimit(2)), and,
 * from Linux 6.12, no way to abstract sockets made outside (landlock(7)), since the network is shared with the machine.
 */
const sealScript = `
import ctypes, json, os, resource, struct, sys
for name, wanted in json.loads(sys.argv[1]).items():
    kind = getattr(resource, name)
    hard = resource.getrlimit(kind)[1]
    value = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
    resource.setrlimit(kind, (value, value))
system = ctypes.CDLL(None)
create_ruleset, restrict_self, version_flag, abstract_sockets = 444, 446, 1, 1
if system.syscall(create_ruleset, None, ctypes.c_size_t(0), version_flag) >= 6:
    attributes = struct.pack("QQQ", 0, 0, abstract_sockets)
    ruleset = system.syscall(create_ruleset, attributes, ctypes.c_size_t(len(attributes)), 0)
    if ruleset < 0 or system.syscall(restrict_self, ruleset, 0) != 0:
        sys.exit("The attempt could not be shut off from abstract sockets.")
    os.close(ruleset)
os.execv(sys.argv[2], sys.argv[2:])
`

/** What goes in front of the attempt's own command. */
export function sealCommand(python: string, { fileBytes, memoryBytes, processes }: AttemptLimits): string[] {
  const resources = { RLIMIT_FSIZE: fileBytes, RLIMIT_DATA: memoryBytes, RLIMIT_NPROC: processes, RLIMIT_CORE: 0 }
  return [python, '-I', '-S', '-c', sealScript, JSON.stringify(resources)]
}
