#!/usr/bin/env bash
# Runs a command as a machine under load does: stops its processes for OFF_MS milliseconds after each ON_MS, until it
# ends. The exit code is that of the command. A test that goes red here depends on time.
#
#   tests/stop-and-go.sh 40 120 npx mocha build/tests/http/users.test.js
#   tests/stop-and-go.sh --services 40 120 npx mocha build/tests/crash/workers.test.js
#
# With --services only the processes of a service and the command line that the command starts are stopped, so that
# they are slow beside a fast test.
set -uo pipefail

usage() {
  sed -nE '2,/^set/ s/^# ?//p' "${BASH_SOURCE[0]}" >&2
  exit 64
}

only_services=false
if [[ ${1-} == --services ]]; then
  only_services=true
  shift
fi
[[ $# -ge 3 && $1 =~ ^[1-9][0-9]*$ && $2 =~ ^[1-9][0-9]*$ ]] || usage
printf -v on '%d.%03d' $(($1 / 1000)) $(($1 % 1000))
printf -v off '%d.%03d' $(($2 / 1000)) $(($2 % 1000))
shift 2

# The bundle and the compiled programs, and the services that tests start from build/.
service='(dist/(bundle/)?(main|cli)|build/tests/[^ ]*service)\.js'

setsid "$@" <&0 &
command=$!
stopped=()
trap 'release; kill -TERM -- "-$command" 2>/dev/null; exit 143' INT TERM HUP
trap release EXIT

release() {
  [[ ${#stopped[@]} -eq 0 ]] || kill -CONT "${stopped[@]}" 2>/dev/null
  stopped=()
}

# Sets `found` to the processes to stop: the command and all that it started, also in groups and sessions of their own.
# A process whose parent has ended is found by its session.
find_processes() {
  local file line pid parent session more
  local -A parents=() sessions=()
  for file in /proc/[0-9]*/stat; do
    { read -r line <"$file"; } 2>/dev/null || continue
    pid=${line%% *}
    # The name in parentheses may hold anything.
    read -r _ parent _ session _ <<<"${line##*) }"
    parents[$pid]=$parent
    sessions[$pid]=$session
  done
  local -A ours=([$command]=1)
  more=true
  while $more; do
    more=false
    for pid in "${!parents[@]}"; do
      [[ -z ${ours[$pid]-} ]] || continue
      [[ -n ${ours[${parents[$pid]}]-} || -n ${ours[${sessions[$pid]}]-} ]] || continue
      ours[$pid]=1
      more=true
    done
  done
  found=()
  for pid in "${!ours[@]}"; do
    if $only_services; then
      { line=$(tr '\0' ' ' <"/proc/$pid/cmdline"); } 2>/dev/null || continue
      [[ $line =~ $service ]] || continue
    fi
    found+=("$pid")
  done
}

while kill -0 "$command" 2>/dev/null; do
  sleep "$on"
  find_processes
  [[ ${#found[@]} -gt 0 ]] || continue
  # A process that ends meanwhile is no failure. Those that have begun meanwhile are stopped in the next round.
  stopped=("${found[@]}")
  kill -STOP "${stopped[@]}" 2>/dev/null
  sleep "$off"
  release
done
wait "$command"
