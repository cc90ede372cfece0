/** A stream of numbers that depends on its seed alone. */
export interface Random {
  /** Even in [0, 1). */
  uniform(): number
  /** Standard normal. */
  normal(): number
}

const mask64 = (1n << 64n) - 1n

/** SplitMix64 (Steele, Lea and Flood 2014), started at the FNV-1a hash of the text. */
export function createRandom(seed: string): Random {
  let state = fnv1a(seed)
  const uniform = () => {
    state = (state + 0x9e3779b97f4a7c15n) & mask64
    // The upper 53 bits fill a double's mantissa.
    return Number(mix(state) >> 11n) / 2 ** 53
  }
  return {
    uniform,
    // Box and Muller; 1 - u keeps the logarithm away from zero.
    normal: () => Math.sqrt(-2 * Math.log(1 - uniform())) * Math.cos(2 * Math.PI * uniform()),
  }
}

function mix(state: bigint): bigint {
  let value = state
  value = ((value ^ (value >> 30n)) * 0xbf58476d1ce4e5b9n) & mask64
  value = ((value ^ (value >> 27n)) * 0x94d049bb133111ebn) & mask64
  return value ^ (value >> 31n)
}

function fnv1a(text: string): bigint {
  let hash = 0xcbf29ce484222325n
  for (const byte of new TextEncoder().encode(text)) hash = ((hash ^ BigInt(byte)) * 0x100000001b3n) & mask64
  return hash
}
