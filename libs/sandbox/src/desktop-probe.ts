import { z } from 'zod'

export interface Screen {
  readonly width: number
  readonly height: number
}

/**
 * Runs in the guest's session: which window manager answers, whether a window of type DESKTOP (that of the icons)
 * exists, and how big the screen is. An open port or a screenshot of some size would be true long before.
 */
export const probeScript = `
import json
from Xlib import X, display

server = display.Display()
root = server.screen().root

def read(window, name):
    found = window.get_full_property(server.intern_atom(name), X.AnyPropertyType)
    return None if found is None else found.value

manager = None
check = read(root, "_NET_SUPPORTING_WM_CHECK")
if check is not None and len(check) > 0:
    name = read(server.create_resource_object("window", check[0]), "_NET_WM_NAME")
    if name is not None:
        manager = name.decode("utf-8", "replace") if isinstance(name, bytes) else str(name)
kind = server.intern_atom("_NET_WM_WINDOW_TYPE_DESKTOP")
clients = read(root, "_NET_CLIENT_LIST")
desktop = False
for number in [] if clients is None else clients:
    types = read(server.create_resource_object("window", number), "_NET_WM_WINDOW_TYPE")
    desktop = desktop or (types is not None and kind in list(types))
size = root.get_geometry()
print(json.dumps({"window_manager": manager, "desktop_window": desktop, "width": size.width, "height": size.height}))
`

const executeAnswerSchema = z.object({ output: z.string(), error: z.string().optional(), returncode: z.int().optional() })
const probeSchema = z.strictObject({ window_manager: z.string().nullable(), desktop_window: z.boolean(), width: z.int(), height: z.int() })

/** What is still missing, as half a sentence; undefined when the desktop is there. `answer` is that of POST /execute. */
export function missingOnDesktop(answer: unknown, screen: Screen): string | undefined {
  const executed = executeAnswerSchema.safeParse(answer)
  if (!executed.success) return 'the guest server answers /execute in an unknown form'
  const { output, error } = executed.data
  const probe = probeSchema.safeParse(parseJson(output))
  if (!probe.success) return `no X display answers yet (${lastLine(error ?? output)})`
  const { window_manager: manager, desktop_window: hasDesktop, width, height } = probe.data
  if (manager !== 'GNOME Shell') return manager === null ? 'no window manager runs yet' : `the window manager is ${manager} and not GNOME Shell`
  if (width !== screen.width || height !== screen.height) return `the screen is ${width}x${height} and not ${screen.width}x${screen.height}`
  return hasDesktop ? undefined : 'the window of the desktop icons is not there yet'
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function lastLine(text: string): string {
  return text.trim().split('\n').at(-1)?.slice(0, 200) ?? ''
}
