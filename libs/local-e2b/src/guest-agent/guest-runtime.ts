import { join } from 'node:path'

/** Command line of a program of the runtime folder, run by the runtime's own loader and libraries. */
export function runtimeCommand(runtimeFolder: string, program: string): readonly [string, ...string[]] {
  const libraries = join(runtimeFolder, 'lib')
  return [join(libraries, 'loader'), '--library-path', libraries, join(runtimeFolder, 'bin', program)]
}
