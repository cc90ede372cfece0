import { Template, type TemplateBuilder, type TemplateClass } from 'e2b'
import type { Recipe, Route } from '@osworld-e2b/contracts'
import { planBase } from './base-image.ts'

export interface RenderedTemplate {
  readonly template: TemplateClass
  /** Name of each step as a person knows it: the base first, then one an instruction, then the end of the build. */
  readonly stepNames: readonly string[]
}

export interface RenderOptions {
  readonly recipe: Recipe
  readonly route: Route
  /** Folder with the staged files, laid out as in the template library. */
  readonly contextFolder: string
}

/** The recipe as the SDK's template builder writes it; nothing is sent. */
export function renderTemplate({ recipe, route, contextFolder }: RenderOptions): RenderedTemplate {
  const base = planBase(recipe, route)
  const stepNames = ['base system', 'work as root', 'work in /']
  // Images and servers differ in the account that they start with; the desktop's own start needs root.
  let builder: TemplateBuilder = Template({ fileContextPath: contextFolder }).fromImage(base.image).setUser('root').setWorkdir('/')
  if (base.installCommand !== undefined) {
    builder = builder.runCmd(base.installCommand, { user: 'root' })
    stepNames.push('install base packages')
  }
  for (const entry of recipe.copy) {
    builder = builder.copy(entry.from, entry.to, { user: 'root' })
    stepNames.push(`copy ${entry.from}`)
  }
  for (const step of recipe.steps) {
    builder = builder.runCmd(step.run, { user: step.user })
    stepNames.push(step.name)
  }
  stepNames.push('start command')
  return { template: builder.setStartCmd(recipe.start_command, recipe.ready_command), stepNames }
}
