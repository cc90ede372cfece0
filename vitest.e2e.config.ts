import { defineConfig } from 'vitest/config'

// End-to-end tests start real desktops: one file at a time, at most two sandboxes in each (two cores).
export default defineConfig({
  ssr: { resolve: { conditions: ['@osworld-e2b/source', 'node', 'import', 'default'] } },
  resolve: { conditions: ['@osworld-e2b/source', 'node', 'import', 'default'] },
  test: {
    include: ['e2e/**/*.e2e.ts'],
    environment: 'node',
    fileParallelism: false,
    // The whole starter suite is one test, two desktops at a time.
    testTimeout: 900_000,
    hookTimeout: 300_000,
    reporters: ['default', 'json'],
    outputFile: { json: 'test-results/e2e.json' },
  },
})
