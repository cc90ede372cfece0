import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parseJsonDocument, recipeSchema, type Recipe } from '@osworld-e2b/contracts'
import { collectFiles, type RecipeFile } from './recipe-files.ts'
import { TemplateError } from './template-error.ts'

export interface LoadedRecipe {
  /** The library folder that the recipe's `copy` entries are relative to. */
  readonly folder: string
  readonly recipe: Recipe
  readonly files: readonly RecipeFile[]
}

/** Reads `<folder>/recipe/<variant>.json` and lists the files that it copies; `folder` is the template library's. */
export async function loadRecipe(folder: string, variant: string): Promise<LoadedRecipe> {
  const path = join(folder, 'recipe', `${variant}.json`)
  const recipe = parseJsonDocument(recipeSchema, path, await readRecipe(path, variant))
  if (recipe.variant !== variant) {
    throw new TemplateError('recipe_unreadable', `${path} says that it is variant ${recipe.variant}; a recipe's file is named after its variant.`)
  }
  return { folder, recipe, files: await collectFiles(folder, recipe.copy.map((entry) => entry.from)) }
}

async function readRecipe(path: string, variant: string): Promise<string> {
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    throw new TemplateError('recipe_unreadable', `There is no recipe for variant ${variant}: ${path} cannot be read.`, error)
  }
}
