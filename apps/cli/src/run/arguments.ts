import type { Command } from 'commander'

/** What the user typed, as the argument parser gives it; what was not typed is absent. */
export interface RunArguments {
  readonly suite?: string
  readonly tasks?: string
  readonly task?: readonly string[]
  readonly domain?: readonly string[]
  readonly failedOf?: string
  readonly agent?: string
  readonly agentPath?: string
  readonly agentUrl?: string
  readonly agentName?: string
  readonly model?: string
  readonly agentSetting?: readonly string[]
  readonly endpoint?: readonly string[]
  readonly endpointKey?: readonly string[]
  readonly endpointConcurrency?: string
  readonly modelCallAttempts?: string
  readonly keepModelContent?: boolean
  readonly prices?: string
  readonly scripts?: string
  readonly numEnvs?: string
  readonly trials?: string
  readonly maxSteps?: string
  readonly maxAttempts?: string
  readonly attemptTimeout?: string
  readonly setupTimeout?: string
  readonly agentTimeout?: string
  readonly evaluateTimeout?: string
  readonly launchesPerSecond?: string
  readonly runSeconds?: string
  readonly budgetUsd?: string
  readonly budgetSandboxHours?: string
  readonly budgetRequests?: string
  readonly budgetTokens?: string
  readonly onInterrupt?: string
  readonly orderBy?: string
  readonly timing?: string
  readonly template?: string
  readonly profile?: string
  readonly profiles?: string
  readonly checkout?: string
  readonly contract?: string
  readonly writeContract?: string
  readonly preflightOnly?: boolean
  readonly proxyFile?: string
  readonly vmSecretMount?: readonly string[]
  readonly settings?: string
  readonly assets?: string | true
  readonly offline?: boolean
  readonly sandboxHourUsd?: string
  readonly modelRequestUsd?: string
  readonly runId?: string
  readonly results?: string
  readonly data?: string
  readonly record: boolean
  readonly dryRun?: boolean
  readonly verbose?: boolean
  readonly json?: boolean
}

/** The flags of `osworld run`. Defaults stand in the texts and not in the parser, since a resumed run brings its own. */
export function addRunFlags(command: Command): Command {
  return command
    .option('--suite <name>', 'suite in validation/, or a folder with a suite.json (default: starter)')
    .option('--tasks <folder>', "folder with OSWorld's task files, instead of a suite")
    .option('--task <domain/id...>', 'only these tasks; the beginning of an id is enough')
    .option('--domain <name...>', 'only tasks of these domains')
    .option('--failed-of <run>', 'the tasks of an earlier run that did not reach 1, with its settings')
    .option('--agent <name>', "scripted, none, http, module:Class, or one of OSWorld's agents, such as qwen3vl (default: scripted)")
    .option('--model <name>', 'model that the agent asks, as its endpoint calls it')
    .option('--agent-setting <key=value...>', "one of the agent's settings; whole numbers, true and false as such, all else as text")
    .option('--agent-path <folder>', 'where the module of module:Class lies')
    .option('--agent-url <address>', "address of an http agent (default: in the contract's agent_url_variable)")
    .option('--agent-name <name>', 'what an http agent is called in the results (default: http)')
    .option('--endpoint <variable...>', "environment variables that hold the model's addresses; attempts take them in turn")
    .option('--endpoint-key <endpoint=variable...>', "environment variable that holds an endpoint's key, such as QWEN_BASE_URL=QWEN_API_KEY")
    .option('--endpoint-concurrency <count>', 'requests at a time to each endpoint (default: no limit)')
    .option('--model-call-attempts <count>', 'tries of one model request (default: 5)')
    .option('--keep-model-content', 'keep what the model was asked and answered in model-calls.jsonl')
    .option('--prices <file>', 'price table of models (default: validation/prices.json)')
    .option('--scripts <set>', "set of the suite's scripts, or a folder with <domain>/<task-id>.json (default: solve)")
    .option('--num-envs <count>', 'attempts at a time (default: 8, or fewer as cores and memory allow)')
    .option('--trials <count>', 'repeats of every task (default: 1)')
    .option('--max-steps <count>', 'steps an agent may take (default: 100)')
    .option('--max-attempts <count>', 'attempts at a trial when infrastructure fails (default: 3)')
    .option('--attempt-timeout <seconds>', 'time for one attempt (default: 1800)')
    .option('--setup-timeout <seconds>', "time for an attempt's set-up (default: the attempt's)")
    .option('--agent-timeout <seconds>', 'time for its agent, likewise')
    .option('--evaluate-timeout <seconds>', 'time for its evaluation, likewise')
    .option('--launches-per-second <count>', 'attempts that may be started in one second (default: 1 on E2B, else no limit)')
    .option('--run-seconds <seconds>', 'start no attempt after so long; what runs is finished')
    .option('--budget-usd <dollars>', 'most that sandboxes and model may cost, over all starts of the run')
    .option('--budget-sandbox-hours <hours>', 'most hours of sandboxes, likewise')
    .option('--budget-requests <count>', 'most requests to endpoints, likewise')
    .option('--budget-tokens <count>', 'most tokens in and out, likewise')
    .option('--order-by <run>', 'start the tasks first that took longest in an earlier run, which shortens the end')
    .option('--on-interrupt <what>', 'cancel running attempts at Ctrl-C, or drain, which finishes them (default: cancel)')
    .option('--timing <kind>', 'settled, which looks at the screen, or upstream, its fixed waits (default: settled)')
    .option('--template <name:build_id>', 'desktop template (default: the one built here)')
    .option('--profile <name>', 'pinned OSWorld source (default: package-1.0.2)')
    .option('--profiles <file>', "profiles of your own, whose results are labelled unverified (default: this project's)")
    .option('--checkout <folder>', "OSWorld's tree of a pinned source (default: in the user's cache)")
    .option('--contract <file>', 'what the run is and may spend; it decides the score, so no flag may change that')
    .option('--write-contract <file>', 'write the contract that these flags amount to, authorized for nothing, and run nothing')
    .option('--preflight-only', 'check contract, profile and secret files, print PREFLIGHT_OK or every fault, and write nothing')
    .option('--proxy-file <file>', "OSWorld's list of proxies, for tasks that ask for one")
    .option('--vm-secret-mount <local:guest...>', 'a file that every sandbox gets, below /opt/osworld/secrets')
    .option('--settings <folder>', "Google settings in the place of OSWorld's evaluation_examples/settings")
    .option('--assets [folder]', "serve the tasks' files from recorded downloads (default folder: in the user's cache)")
    .option('--offline', 'fetch nothing that is not recorded; the missing files are named before anything starts')
    .option('--sandbox-hour-usd <price>', "price of one sandbox for one hour (default: E2B's list price on its route)")
    .option('--model-request-usd <price>', 'most that one model request costs, for the bounds of --dry-run and for what a budget reserves before an attempt has shown it')
    .option('--run-id <name>', 'name of the run; an existing one is resumed with the settings it has')
    .option('--results <folder>', 'where run folders are kept (default: results/runs)')
    .option('--data <folder>', "local E2B server's data folder (default: in the user's cache)")
    .option('--no-record', 'do not record a video')
    .option('--dry-run', 'check everything and say what would run; start no sandbox and write no run folder')
    .option('--verbose', 'a line for every phase of every attempt')
    .option('--json', 'events and the aggregate as JSON lines on standard output')
}
