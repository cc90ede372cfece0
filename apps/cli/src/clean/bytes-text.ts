const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'] as const

/** Such as `4 KiB`, `313 MiB` or `2.8 GiB`. */
export function bytesText(bytes: number): string {
  let value = bytes
  let index = 0
  while (value >= 1000 && index < units.length - 1) {
    value /= 1024
    index += 1
  }
  const digits = value >= 10 || index === 0 ? 0 : 1
  return `${value.toFixed(digits).replace(/\.0$/, '')} ${units[index] ?? 'B'}`
}
