import { Template } from 'e2b'
import { describe, expect, test } from 'vitest'
import type { Route } from '@osworld-e2b/contracts'
import { tinyRecipe } from '../test/tiny-recipe.ts'
import { renderTemplate } from './e2b-render.ts'

/** Files are looked at only when they are sent. */
const contextFolder = '/nowhere'

async function rendered(route: Route): Promise<unknown> {
  const { template } = renderTemplate({ recipe: tinyRecipe, route, contextFolder })
  return JSON.parse(await Template.toJSON(template, false))
}

describe('a rendered recipe', () => {
  test('starts from an image name that describes the base system on the local route', async () => {
    expect(await rendered('local')).toMatchInlineSnapshot(`
      {
        "force": false,
        "fromImage": "mmdebstrap:bookworm?variant=minbase&include=sudo%2Cprocps&aptopt=APT%3A%3AInstall-Recommends+false&dpkgopt=path-exclude%3D%2Fusr%2Fshare%2Fdoc%2F*",
        "readyCmd": "true",
        "startCmd": "sleep infinity",
        "steps": [
          {
            "args": [
              "root",
            ],
            "force": false,
            "type": "USER",
          },
          {
            "args": [
              "/",
            ],
            "force": false,
            "type": "WORKDIR",
          },
          {
            "args": [
              "guest",
              "/opt/tiny",
              "root",
              "",
            ],
            "force": false,
            "type": "COPY",
          },
          {
            "args": [
              "echo hello > /etc/greeting",
              "root",
            ],
            "force": false,
            "type": "RUN",
          },
          {
            "args": [
              "/opt/tiny/bin/whoami.sh > /tmp/who && mv /tmp/who /opt/tiny/who",
              "root",
            ],
            "force": false,
            "type": "RUN",
          },
        ],
      }
    `)
  })

  test('fills a published image by apt elsewhere', async () => {
    expect(await rendered('e2b')).toMatchInlineSnapshot(`
      {
        "force": false,
        "fromImage": "debian:12",
        "readyCmd": "true",
        "startCmd": "sleep infinity",
        "steps": [
          {
            "args": [
              "root",
            ],
            "force": false,
            "type": "USER",
          },
          {
            "args": [
              "/",
            ],
            "force": false,
            "type": "WORKDIR",
          },
          {
            "args": [
              "printf '%s\\n' 'APT::Install-Recommends false;' > /etc/apt/apt.conf.d/99mmdebstrap && printf '%s\\n' 'path-exclude=/usr/share/doc/*' > /etc/dpkg/dpkg.cfg.d/99mmdebstrap && apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install --yes sudo procps && apt-get clean",
              "root",
            ],
            "force": false,
            "type": "RUN",
          },
          {
            "args": [
              "guest",
              "/opt/tiny",
              "root",
              "",
            ],
            "force": false,
            "type": "COPY",
          },
          {
            "args": [
              "echo hello > /etc/greeting",
              "root",
            ],
            "force": false,
            "type": "RUN",
          },
          {
            "args": [
              "/opt/tiny/bin/whoami.sh > /tmp/who && mv /tmp/who /opt/tiny/who",
              "root",
            ],
            "force": false,
            "type": "RUN",
          },
        ],
      }
    `)
  })

  test.each<Route>(['local', 'e2b'])('names every step of the %s route, the base first and the start command last', (route) => {
    const { stepNames } = renderTemplate({ recipe: tinyRecipe, route, contextFolder })
    const own = ['copy guest', 'greet the world', 'note who runs the copied script']
    expect(stepNames).toEqual(['base system', 'work as root', 'work in /', ...(route === 'e2b' ? ['install base packages'] : []), ...own, 'start command'])
  })

  test('keeps options and packages with any character apart', () => {
    const base = { ...tinyRecipe.base, packages: ['g++', 'libfoo=1:2.0~a'], apt_options: ['Acquire::http "a&b=c"'], dpkg_options: ["path-exclude='/x y'"] }
    const { template } = renderTemplate({ recipe: { ...tinyRecipe, base }, route: 'local', contextFolder })
    const image = Template.toDockerfile(template).split('\n')[0]?.replace('FROM mmdebstrap:bookworm?', '')
    expect([...new URLSearchParams(image)]).toEqual([
      ['variant', 'minbase'],
      ['include', 'g++,libfoo=1:2.0~a'],
      ['aptopt', 'Acquire::http "a&b=c"'],
      ['dpkgopt', "path-exclude='/x y'"],
    ])
  })
})
