import { type Connection, type TemplateRef } from '@osworld-e2b/contracts'
import { findTemplate, isTemplateReady, loadRecipe } from '@osworld-e2b/template'
import { UsageError } from '../usage-error.ts'
import { workspace } from '../workspace.ts'

/** The asked template, or the one that this checkout's recipe makes; refused before anything starts when it is not there. */
export async function resolveTemplate(asked: TemplateRef | undefined, connection: Connection): Promise<TemplateRef> {
  if (asked === undefined) return builtTemplate(connection)
  if (await isTemplateReady({ template: asked, connection })) return asked
  throw new UsageError(`There is no ready template ${asked} on this server; give what \`npx nx run template-builder:build\` printed, or leave --template out.`)
}

async function builtTemplate(connection: Connection): Promise<TemplateRef> {
  const recipe = await loadRecipe(workspace.templateFolder, 'debian-12')
  const found = await findTemplate({ recipe, connection })
  if (found !== undefined) return found
  throw new UsageError('The desktop template is not built yet; run `npx nx run template-builder:build` once, or give --template name:build_id.')
}
