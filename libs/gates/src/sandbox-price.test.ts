import { expect, test } from 'vitest'
import { sandboxPrice } from './sandbox-price.ts'

test("a sandbox of E2B costs its list price by its size, exact to a hundredth of a cent", () => {
  expect(sandboxPrice('e2b', undefined)).toEqual({ hourUsd: 0.3312, origin: "E2B's list price of 4 vCPU and 8 GiB" })
  expect(sandboxPrice('e2b', undefined, { cpuCount: 2, memoryGib: 4 })).toEqual({ hourUsd: 0.1656, origin: "E2B's list price of 2 vCPU and 4 GiB" })
})

test('what the user says goes first, this machine costs nothing, and another server is unknown', () => {
  expect(sandboxPrice('e2b', 0.5)).toEqual({ hourUsd: 0.5, origin: 'as given' })
  expect(sandboxPrice('local', undefined)).toEqual({ hourUsd: 0, origin: 'this machine' })
  expect(sandboxPrice('e2b-compatible', undefined)).toEqual({ hourUsd: null })
})
