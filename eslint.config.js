import { dirname, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import js from '@eslint/js'
import nx from '@nx/eslint-plugin'
import tseslint from 'typescript-eslint'

const root = dirname(fileURLToPath(import.meta.url))
const here = relative(root, process.cwd())

/** The layer table of docs/architecture.md: a row imports only rows above it, never its own row. */
const layers = [
  { sourceTag: 'layer:contracts', onlyDependOnLibsWithTags: [] },
  { sourceTag: 'layer:core', onlyDependOnLibsWithTags: ['layer:contracts'] },
  { sourceTag: 'layer:service', onlyDependOnLibsWithTags: ['layer:contracts', 'layer:core'] },
  { sourceTag: 'layer:app', onlyDependOnLibsWithTags: ['layer:contracts', 'layer:core', 'layer:service'] },
  { sourceTag: 'layer:tool', onlyDependOnLibsWithTags: ['layer:contracts', 'layer:core', 'layer:service', 'layer:test-tool'] },
  { sourceTag: 'layer:test-tool', onlyDependOnLibsWithTags: ['layer:contracts'] },
]

const processGlobals = ['exit', 'env', 'stdout', 'stderr', 'argv'].map((property) => ({
  object: 'process',
  property,
  message: 'A lib takes its effects by parameter; only apps touch the process.',
}))

const noVendor = {
  name: 'e2b',
  message: 'Only files named e2b*.ts in libs/template and libs/sandbox import the SDK.',
}

const tests = ['**/*.test.ts', '**/test/**/*.ts', '**/e2e/**/*.ts']

export default tseslint.config(
  { ignores: ['**/dist/**', '**/node_modules/**', '**/results/**', '**/test-results/**'] },
  js.configs.recommended,
  ...tseslint.configs.strictTypeChecked.map((config) => ({ ...config, files: ['**/*.ts'] })),
  {
    files: ['**/*.ts'],
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: process.cwd() } },
    plugins: { '@nx': nx },
    rules: {
      '@nx/enforce-module-boundaries': ['error', { enforceBuildableLibDependency: false, allow: [], depConstraints: layers }],
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true }],
      '@typescript-eslint/no-confusing-void-expression': ['error', { ignoreArrowShorthand: true, ignoreVoidReturningFunctions: true }],
      'no-restricted-imports': ['error', { paths: [noVendor] }],
      'max-lines': ['error', 400],
      'max-params': 'off',
      '@typescript-eslint/max-params': ['error', { max: 3 }],
      'no-console': 'error',
      eqeqeq: 'error',
    },
  },
  { files: ['**/e2b*.ts', ...tests], rules: { 'no-restricted-imports': 'off' } },
  { files: tests, rules: { '@typescript-eslint/max-params': 'off' } },
  ...(here.startsWith('libs/')
    ? [{ files: ['src/**/*.ts'], ignores: [...tests, 'src/guest-agent/**'], rules: { 'no-restricted-properties': ['error', ...processGlobals] } }]
    : []),
  {
    files: ['package.json'],
    languageOptions: { parser: await import('jsonc-eslint-parser') },
    plugins: { '@nx': nx },
    rules: {
      '@nx/dependency-checks': [
        'error',
        {
          buildTargets: ['compile'],
          checkVersionMismatches: false,
          ignoredDependencies: ['vitest', 'fast-check', 'playwright-core', '@osworld-e2b/local-e2b'],
          ignoredFiles: ['**/*.test.ts', '**/test/**', '**/e2e/**'],
        },
      ],
    },
  },
  {
    files: ['**/*.mjs', '**/*.js'],
    languageOptions: { globals: { process: 'readonly', console: 'readonly', URL: 'readonly', setTimeout: 'readonly', clearTimeout: 'readonly', setInterval: 'readonly', clearInterval: 'readonly', Buffer: 'readonly', fetch: 'readonly', AbortSignal: 'readonly', performance: 'readonly', AbortController: 'readonly' } },
  },
)
