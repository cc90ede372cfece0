import { guestHostNetworkFolder, guestRuntimeFolder } from './guest-paths.ts'

/**
 * Sourced by a bash that is pid 1 of the new namespaces until it becomes `init.sh`; sourced, so that it holds no descriptor of the file. Working folder: the sandbox's folder; every path
 * is relative and `mount` must not resolve it, since guest root may not be able to walk down to it from `/`.
 * Arguments: runtime folder, host name, network mode, overlay lower folders. Descriptor 3 is the listening socket,
 * 4 takes lines for the server, 1 and 2 are the guest's log.
 */
export const setupScript = String.raw`
set -eu
runtime=$1 hostname=$2 network=$3 lower=$4
for link in /proc/self/fd/*; do
  number=${'$'}{link##*/}
  [ "$number" -le 4 ] || eval "exec $number>&-"
done
read -r host_pid rest < /proc/self/stat
echo "pid $host_pid" >&4
mount -c -t overlay overlay -o "lowerdir=$lower,upperdir=upper,workdir=work,volatile,userxattr" root
for name in proc sys dev run tmp; do
  # A link in the image must not lead a mount to a place of the host.
  [ ! -L "root/$name" ] || rm "root/$name"
  [ -d "root/$name" ] || mkdir "root/$name"
done
if [ "$network" = host ]; then
  [ ! -L root/etc ] || { echo 'refused: /etc of this image is a link' >&2; exit 1; }
  if [ ! -d root/etc ]; then mkdir root/etc; echo 'made etc' >&4; fi
  if [ -L root/etc/resolv.conf ] || [ ! -f root/etc/resolv.conf ]; then
    rm -rf root/etc/resolv.conf; : > root/etc/resolv.conf; echo 'made etc/resolv.conf' >&4
  fi
else
  ip link set lo up
fi
exec 4>&-
hostname "$hostname"
mount -c -a -T "$runtime/mounts/$network.first"
cp -RP "$runtime/dev" root/
mkdir root${guestRuntimeFolder}
[ "$network" = loopback ] || mkdir root${guestHostNetworkFolder}
mount -c -a -T "$runtime/mounts/$network.second"
cd root
pivot_root . .${guestRuntimeFolder}/old
exec ${guestRuntimeFolder}/lib/loader --library-path ${guestRuntimeFolder}/lib ${guestRuntimeFolder}/bin/sh ${guestRuntimeFolder}/init.sh
`

/**
 * Pid 1 of a guest for the rest of its life. A shell waits for any child, so orphans are reaped; the kernel lets no signal
 * of the guest end it; and it keeps the listening socket (3) open for the next agent when the guest kills the agent.
 */
export const initScript = `
runtime=${guestRuntimeFolder}
PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
cd /
umask 022
exec </dev/null
"$runtime/lib/loader" --library-path "$runtime/lib" "$runtime/bin/umount" -c -n -l "$runtime/old" || exit 1
failures=0
while [ "$failures" -lt 5 ]; do
  "$runtime/lib/loader" --library-path "$runtime/lib" "$runtime/bin/node" "$runtime/agent.cjs"
  status=$?
  echo "the guest agent ended with status $status" >&2
  # Killed by a signal is the guest's doing; an agent that fails by itself would fail for ever.
  [ "$status" -gt 128 ] || failures=$((failures + 1))
done
exit 1
`
