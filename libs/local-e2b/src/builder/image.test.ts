import { describe, expect, it } from 'vitest'
import { planImage } from './image.ts'

const none = new Map<string, string>()

describe('an image string', () => {
  it('debian:12 is bookworm with the account user', () => {
    const plan = planImage('debian:12', none)
    expect(plan).toMatchObject({ base: { suite: 'bookworm', variant: 'minbase' }, addsAccount: true, user: 'user', workdir: '/home/user' })
    expect(plan.base.packages).toContain('python-is-python3')
  })

  it('mmdebstrap: names suite, variant, packages and repeated options, and adds no account', () => {
    const query = new URLSearchParams([['variant', 'apt'], ['include', 'bash,libgl1:amd64,openbox=3.6'], ['aptopt', 'Acquire::Check-Valid-Until "false"'], ['aptopt', 'B'], ['dpkgopt', 'path-exclude=/usr/share/man/*']])
    expect(planImage(`mmdebstrap:jammy?${query.toString()}`, none)).toEqual({
      base: {
        suite: 'jammy',
        variant: 'apt',
        packages: ['bash', 'libgl1:amd64', 'openbox=3.6'],
        aptOptions: ['Acquire::Check-Valid-Until "false"', 'B'],
        dpkgOptions: ['path-exclude=/usr/share/man/*'],
      },
      addsAccount: false,
      user: 'root',
      workdir: '/',
      aliasOf: undefined,
    })
  })

  it('is refused with what is offered when it is unknown, and served under a declared alias', () => {
    expect(() => planImage('ubuntu:22.04', none)).toThrow(/'ubuntu:22.04' is not offered.*'debian:12'.*mmdebstrap:/)
    expect(planImage('ubuntu:22.04', new Map([['ubuntu:22.04', 'debian:12']]))).toMatchObject({ base: { suite: 'bookworm' }, aliasOf: 'debian:12' })
  })

  it.each([
    ['mmdebstrap:bookworm?include=a;rm', "'a;rm' is not a package name"],
    ['mmdebstrap:bookworm?packages=a', "unknown parameter 'packages'"],
    ['mmdebstrap:../x', 'is not a suite'],
    ['mmdebstrap:bookworm?variant=/x', 'is not a variant'],
  ])('%s is refused: %s', (image, sentence) => {
    expect(() => planImage(image, none)).toThrow(sentence)
  })
})
