#!/usr/bin/env bash
# Runs the first command of README.md: starts the service, sends the request that it prints, and stops the service.
set -uo pipefail
[[ -e data ]] && { echo 'data/ exists, and this starts with an empty store'; exit 1; }
work=$(mktemp -d)
trap 'rm -rf "$work" data' EXIT

npm start >"$work/out" 2>"$work/log" &
npm=$!
for _ in $(seq 1200); do
  grep -q 'curl' "$work/out" && break
  kill -0 "$npm" 2>/dev/null || break
  sleep 0.1
done
request=$(grep -m 1 -o 'curl .*' "$work/out") || { cat "$work/out" "$work/log"; kill "$npm"; exit 1; }
response=$(bash -c "$request --silent --show-error --max-time 60")
kill -TERM "$npm"
wait "$npm"
code=$?
printf 'the response was %s; npm start ended with %s\n' "$response" "$code"
[[ $response == '[]' && $code -eq 0 ]]
