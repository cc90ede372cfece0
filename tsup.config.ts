import { existsSync, readFileSync } from 'node:fs'
import { defineConfig } from 'tsup'

interface PackageFile {
  readonly name: string
  readonly dependencies?: Readonly<Record<string, string>>
}

const packageFile = JSON.parse(readFileSync('package.json', 'utf8')) as PackageFile
const isApp = existsSync('src/main.ts')
/** The app that starts sandboxes brings the program that runs in them. */
const guestAgent = '../../libs/local-e2b/src/guest-agent/main.ts'
const bringsGuestAgent = packageFile.name === '@osworld-e2b/local-e2b-bin'

/**
 * A lib becomes `dist/index.js` with declarations; an app becomes one file with the workspace's libs bundled in from
 * source, so that `relay-bin` and the others run without any lib being built. The guest agent is bundled whole, since
 * nothing may be needed inside a sandbox's image.
 */
export default defineConfig([
  {
    entry: isApp ? ['src/main.ts'] : ['src/index.ts'],
    format: ['esm'],
    platform: 'node',
    target: 'node20',
    dts: !isApp,
    // The agent's bundle is written beside this one at the same time.
    clean: !bringsGuestAgent,
    sourcemap: true,
    noExternal: isApp ? [/^@osworld-e2b\//] : [],
    // Packages of the registry stay in node_modules: many of them cannot be bundled into a module.
    skipNodeModulesBundle: true,
    esbuildOptions(options) {
      options.conditions = ['@osworld-e2b/source', 'node', 'import', 'default']
    },
  },
  ...(bringsGuestAgent
    ? [
        {
          entry: { 'guest-agent': guestAgent },
          format: ['cjs' as const],
          platform: 'node' as const,
          target: 'node20',
          noExternal: [/.*/],
          outExtension: () => ({ js: '.cjs' }),
        },
      ]
    : []),
])
