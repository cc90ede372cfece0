import type { DataFolder } from '../store/data-folder.ts'
import type { BuiltImage } from '../store/template-document.ts'
import type { ReadyImage } from '../store/template-store.ts'
import { stateOfBase } from './bases.ts'
import { stateOfImage, type BuildLog, type BuildSpec, type BuildState, type BuildStep, type StepName } from './build-spec.ts'
import { finalize, type ReadyTiming } from './finalize.ts'
import { makeLayer } from './make-layer.ts'
import { runStep } from './steps.ts'
import type { Workbench } from './workbench.ts'

export interface BuildRun {
  readonly bench: Workbench
  readonly folder: DataFolder
  readonly buildId: string
  readonly spec: BuildSpec
  readonly log: BuildLog
  readonly timing: ReadyTiming
  readonly resolveTemplate: (reference: string) => Promise<ReadyImage>
  /** Told before each part, so that a failure can name it. */
  readonly onStep: (step: StepName) => void
}

/** Does a whole build: origin, steps, finalizing. */
export async function buildImage(run: BuildRun): Promise<BuiltImage> {
  const { bench, spec, log, onStep } = run
  onStep('base')
  let state = await originState(run)
  let isForced = spec.isForced
  for (const [index, step] of spec.steps.entries()) {
    const name = String(index + 1)
    onStep(name)
    isForced ||= step.isForced
    state = await oneStep(run, state, { step, name, isForced })
  }
  onStep('finalize')
  state = await finalize(bench, state, { spec, log, timing: run.timing })
  return {
    key: state.id,
    layers: [...state.layers],
    user: state.user,
    workdir: state.workdir,
    environment: { ...state.environment },
    start_command: spec.startCommand,
  }
}

async function originState({ bench, folder, spec, log, resolveTemplate }: BuildRun): Promise<BuildState> {
  if (spec.origin.kind === 'template') {
    log('base', `[base] FROM template ${spec.origin.reference}`)
    return stateOfImage((await resolveTemplate(spec.origin.reference)).image)
  }
  const { plan } = spec.origin
  if (plan.aliasOf !== undefined) log('base', `[base] this image name is an alias: the image is ${plan.aliasOf}`, 'warn')
  log('base', `[base] FROM ${plan.base.suite} (${plan.base.variant})`)
  return stateOfBase(bench, plan, { folder, log })
}

async function oneStep(run: BuildRun, before: BuildState, { step, name, isForced }: { readonly step: BuildStep; readonly name: StepName; readonly isForced: boolean }): Promise<BuildState> {
  const { bench, log } = run
  const title = `[${name}/${run.spec.steps.length}] ${step.type} ${step.args.filter((argument) => argument !== '').join(' ')}`
  const { state, isCached } = await makeLayer(bench, before, {
    step: { type: step.type, args: step.args, filesHash: step.filesHash },
    network: 'host',
    forcedBy: isForced ? run.buildId : undefined,
    work: (sandbox) => {
      log(name, title)
      return runStep(step, { bench, sandbox, state: before, onLine: (line) => log(name, line) })
    },
  })
  if (isCached) log(name, `CACHED ${title}`)
  return state
}
