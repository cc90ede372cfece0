/** Where the read-only runtime lies in a guest: under `/run`, so that no layer ever holds its mount point. */
export const guestRuntimeFolder = '/run/local-e2b'
/** Where the host's network settings lie in a guest while a template is built. */
export const guestHostNetworkFolder = '/run/host-network'
