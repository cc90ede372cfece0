import path from 'node:path'

export interface CopyRequest {
  readonly source: string
  readonly destination: string
  /** Account, or account:group. */
  readonly owner: string
  /** Octal digits; empty keeps what the archive says. */
  readonly mode: string
  readonly workdir: string
  /** Guest folder that holds `archive` and is removed at the end. */
  readonly stage: string
}

/** Makes missing folders of `$1` and gives those, and no older ones, to `$OWNER`. */
export const makeFolderFunction = `
make_folder() {
  local folder=$1 missing=()
  while [ ! -d "$folder" ]; do missing+=("$folder"); folder=$(dirname "$folder"); done
  [ \${#missing[@]} -eq 0 ] || { mkdir -p "$1"; chown "$OWNER" "\${missing[@]}"; }
}`

/** Folders that exist keep their owner and mode, so that a tree may be copied onto the root. */
const copyTree = `
copy_tree() {
  make_folder "$DESTINATION"
  tar -C "$1" -cf - . | tar -C "$DESTINATION" -xpf - --numeric-owner --no-overwrite-dir --keep-directory-symlink
}`

const copyOne = `
copy_one() {
  local target=$DESTINATION
  if [ -n "$INTO_FOLDER" ] || [ -d "$target" ]; then target=$target/$(basename "$1"); fi
  make_folder "$(dirname "$target")"
  cp -a --no-target-directory --remove-destination "$1" "$target"
}`

const script = `
set -euo pipefail
${makeFolderFunction}
${copyTree}
${copyOne}
mkdir "$STAGE/files"
tar -xpf "$STAGE/archive" -C "$STAGE/files" --no-same-owner
chown -Rh "$OWNER" "$STAGE/files"
[ -z "$MODE" ] || chmod -R "$MODE" "$STAGE/files"
chmod u+rwx "$STAGE/files"
cd "$STAGE/files"
if [ -n "$IS_GLOB" ]; then copy_tree "$SOURCE"
elif [ -L "$SOURCE" ]; then copy_one "$SOURCE"
elif [ -d "$SOURCE" ]; then copy_tree "$SOURCE"
elif [ -e "$SOURCE" ]; then copy_one "$SOURCE"
else echo "the archive holds no '$SOURCE'" >&2; exit 1
fi
cd /
rm -rf "$STAGE"
`

/**
 * The root command of a COPY step and its variables. One file or link goes to the exact path, or into it when it ends with a slash or is a
 * folder; a folder's content goes into the destination; what a pattern matched goes into it too, keeping the path below the pattern's fixed part.
 */
export function copyCommand(request: CopyRequest): { readonly command: string; readonly environment: Readonly<Record<string, string>> } {
  const isGlob = /[*?[\]{}]/.test(request.source)
  return {
    command: script,
    environment: {
      STAGE: request.stage,
      SOURCE: `./${path.posix.normalize(isGlob ? fixedPart(request.source) : request.source)}`,
      DESTINATION: path.posix.resolve(request.workdir, request.destination),
      INTO_FOLDER: request.destination.endsWith('/') ? 'yes' : '',
      IS_GLOB: isGlob ? 'yes' : '',
      OWNER: withLoginGroup(request.owner),
      MODE: request.mode,
    },
  }
}

/** `chown name:` sets the account's own group too. */
export function withLoginGroup(owner: string): string {
  return owner.includes(':') ? owner : `${owner}:`
}

function fixedPart(pattern: string): string {
  const segments = pattern.split('/')
  const first = segments.findIndex((segment) => /[*?[\]{}]/.test(segment))
  return segments.slice(0, first).join('/') || '.'
}
