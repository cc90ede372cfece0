import type { FaultStep, Script, Step } from './script.ts'

export interface Turn {
  /** `match` of the task that the request is about; undefined when it is about none. */
  readonly task: string | undefined
  /** Number of the step in the task's list, from 0; the length of the list stands for `finally`. */
  readonly index: number
  readonly step: Step
  /** Counts the answer as given; a turn that was not given comes again. */
  readonly given: () => void
}

interface Position {
  index: number
  /** How often the fault at `index` was given. */
  faults: number
}

export interface Progress {
  /** What comes next for a request with these texts. */
  turnOf(texts: readonly string[]): Turn
}

/**
 * Where each task is in its list. An agent asks again and again with a growing history, so the place follows from what was
 * given: an answer moves on once it arrived whole, a fault once it was shown as often as it says.
 */
export function createProgress(script: Script): Progress {
  const positions = new Map<string | undefined, Position>()
  return {
    turnOf: (texts) => {
      const task = script.tasks.find(({ match }) => texts.some((text) => text.includes(match)))
      const steps = task?.steps ?? script.otherwise
      const position = positions.get(task?.match) ?? { index: 0, faults: 0 }
      positions.set(task?.match, position)
      const { index } = position
      const step = steps[index] ?? script.finally
      const given = () => {
        // Of two requests at once that got the same step only one moves on.
        if (position.index === index && index < steps.length) advance(position, step)
      }
      return { task: task?.match, index, step, given }
    },
  }
}

function advance(position: Position, step: Step): void {
  if (isFault(step)) {
    position.faults += 1
    if (position.faults < step.times) return
  }
  position.index += 1
  position.faults = 0
}

export function isFault(step: Step): step is FaultStep {
  return 'fault' in step
}
