import { chmod, mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Recipe } from '@osworld-e2b/contracts'

export const tinyRecipe: Recipe = {
  schema_version: 1,
  variant: 'debian-12',
  base: { suite: 'bookworm', variant: 'minbase', packages: ['procps'], apt_options: ['APT::Install-Recommends false'], dpkg_options: ['path-exclude=/usr/share/doc/*'] },
  copy: [{ from: 'guest', to: '/opt/tiny' }],
  steps: [
    { name: 'greet the world', run: 'echo hello > /etc/greeting', user: 'root' },
    { name: 'run the copied script', run: '/opt/tiny/bin/whoami.sh > /opt/tiny/who', user: 'root' },
  ],
  start_command: 'sleep infinity',
  ready_command: 'true',
  resources: { cpu_count: 1, memory_mb: 512 },
}

/** A template library with one small recipe, the script and the text that it copies. */
export async function writeTinyLibrary(folder: string, recipe: Recipe = tinyRecipe): Promise<void> {
  await mkdir(join(folder, 'recipe'), { recursive: true })
  await mkdir(join(folder, 'guest/bin'), { recursive: true })
  await writeFile(join(folder, 'recipe/debian-12.json'), JSON.stringify(recipe))
  await writeFile(join(folder, 'guest/message.txt'), 'hello\n')
  await writeFile(join(folder, 'guest/bin/whoami.sh'), '#!/bin/sh\nid -un\n')
  await chmod(join(folder, 'guest/bin/whoami.sh'), 0o755)
}
