/** What a build tells while it runs. */
export type BuildProgress =
  | { readonly kind: 'step'; readonly index: number; readonly total: number; readonly name: string }
  | { readonly kind: 'log'; readonly level: 'debug' | 'info' | 'warn' | 'error'; readonly message: string }

/** Position in the list of step names of a step as the E2B API names it: `base`, `finalize`, or a number from 1. */
export function stepIndex(step: string | undefined, stepCount: number): number | undefined {
  if (step === 'base') return 0
  if (step === 'finalize') return stepCount - 1
  const index = step === undefined || !/^\d+$/.test(step) ? Number.NaN : Number(step)
  return index < stepCount ? index : undefined
}
