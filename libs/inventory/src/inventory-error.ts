export type InventoryErrorCode = 'inventory_mismatch' | 'not_canonical' | 'symbolic_link'

/** A value or folder that has no digest of its own. */
export class InventoryError extends Error {
  readonly code: InventoryErrorCode

  constructor(code: InventoryErrorCode, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause })
    this.name = 'InventoryError'
    this.code = code
  }
}
