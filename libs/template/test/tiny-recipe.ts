import { chmod, mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Recipe } from '@osworld-e2b/contracts'

export const tinyRecipe: Recipe = {
  schema_version: 1,
  variant: 'debian-12',
  base: {
    suite: 'bookworm',
    variant: 'minbase',
    packages: ['sudo', 'procps'],
    apt_options: ['APT::Install-Recommends false'],
    dpkg_options: ['path-exclude=/usr/share/doc/*'],
  },
  copy: [{ from: 'guest', to: '/opt/tiny' }],
  steps: [
    { name: 'greet the world', run: 'echo hello > /etc/greeting', user: 'root' },
    { name: 'note who runs the copied script', run: '/opt/tiny/bin/whoami.sh > /tmp/who && mv /tmp/who /opt/tiny/who', user: 'root' },
  ],
  start_command: 'sleep infinity',
  ready_command: 'true',
  resources: { cpu_count: 1, memory_mb: 512 },
}

/** Lays a template library out in `folder`: the recipe and the two files that it copies. */
export async function writeTinyLibrary(folder: string, recipe: Recipe = tinyRecipe): Promise<void> {
  await writeLibraryFile(folder, `recipe/${recipe.variant}.json`, JSON.stringify(recipe))
  await writeLibraryFile(folder, 'guest/message.txt', 'one line\n')
  await writeLibraryFile(folder, 'guest/bin/whoami.sh', '#!/bin/sh\nid -un\n')
  await chmod(join(folder, 'guest/bin/whoami.sh'), 0o755)
}

export async function writeLibraryFile(folder: string, path: string, content: string): Promise<void> {
  await mkdir(dirname(join(folder, path)), { recursive: true })
  await writeFile(join(folder, path), content)
}
