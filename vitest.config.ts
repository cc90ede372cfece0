import { defineConfig } from 'vitest/config'

// Tests read the workspace's sources through its own export condition, so none of them needs a build.
export default defineConfig({
  ssr: { resolve: { conditions: ['@osworld-e2b/source', 'node', 'import', 'default'] } },
  resolve: { conditions: ['@osworld-e2b/source', 'node', 'import', 'default'] },
  test: {
    include: ['src/**/*.test.ts', 'test/**/*.test.ts'],
    environment: 'node',
    testTimeout: 60_000,
    hookTimeout: 120_000,
    passWithNoTests: false,
    reporters: ['default', 'json'],
    outputFile: { json: 'test-results/unit.json' },
  },
})
