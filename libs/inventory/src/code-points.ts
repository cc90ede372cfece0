/** Orders strings by code point, as Python does; JavaScript's own order is by UTF-16 unit and differs above U+FFFF. */
export function compareCodePoints(left: string, right: string): number {
  const length = Math.min(left.length, right.length)
  for (let index = 0; index < length; index += 1) {
    if (left.charCodeAt(index) === right.charCodeAt(index)) continue
    return codePointAround(left, index) - codePointAround(right, index)
  }
  return left.length - right.length
}

/** The code point that the UTF-16 unit at `index` belongs to, also when that unit is its second half. */
function codePointAround(text: string, index: number): number {
  const before = index > 0 ? (text.codePointAt(index - 1) ?? 0) : 0
  return before > 0xffff ? before : (text.codePointAt(index) ?? 0)
}
