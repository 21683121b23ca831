#!/usr/bin/env bash
# A worker in nothing but bash, curl and jq, as docs/worker-protocol.md tells it: registers, claims, runs, publishes a file with the finish, keeps its
# lease with heartbeats, and leaves when there has been no work for two seconds. Handlers: sh.hello, and sh.file, which publishes a file.
set -euo pipefail
: "${FANFOLD_URL:?}" "${FANFOLD_KEY:?}"

say() { # method path [body]: prints the answer; tries again while the service is away
  local method=$1 path=$2 body=${3-} out status
  for wait in 0.1 0.2 0.4 0.8 1.6 3.2; do
    out=$(curl -sS -w '\n%{http_code}' -X "$method" "$FANFOLD_URL$path" -H "Authorization: Bearer $FANFOLD_KEY" \
      ${body:+-H 'Content-Type: application/json' --data-binary "$body"}) || { sleep "$wait"; continue; }
    status=${out##*$'\n'}; out=${out%$'\n'*}
    case $status in
      2*) printf '%s' "$out"; return 0 ;;
      429 | 502 | 503 | 504) sleep "$wait" ;;
      *) printf '%s\n' "$out" >&2; return 1 ;;
    esac
  done
  return 1
}

registered=$(say POST /api/workers/register "$(jq -nc --argjson pid $$ '{types: ["sh.hello", "sh.file"], slots: 1, lease_s: 30, version: "bash", pid: $pid}')")
worker=/api/workers/$(jq -r .worker_id <<<"$registered")
beat_s=$(jq -r '.heartbeat_s | floor' <<<"$registered")
held=$(mktemp)
( while sleep "$beat_s"; do say POST "$worker/heartbeat" "$(jq -nc --argjson claims "[$(cat "$held")]" '{claims: $claims}')" >/dev/null || true; done ) &
beating=$!
trap 'kill $beating; say POST "$worker/stop" >/dev/null; rm -f "$held"' EXIT

publish() { # held-task prefix name file → the effect that makes it visible
  local bytes sha new url
  bytes=$(wc -c <"$4"); sha=$(sha256sum "$4" | cut -d' ' -f1)
  new=$(say POST "$worker/files" "$(jq -c --arg p "$2" --arg n "$3" --argjson b "$bytes" --arg s "$sha" \
    '. + {zone: "silver", prefix: $p, name: $n, media_type: "text/plain", bytes: $b, sha256: $s}' <<<"$1")")
  url=$(jq -r .upload.url <<<"$new")
  # A path is of the service, and gets the key. An address is of a store, and gets only the headers that were told.
  if [[ $url == /* ]]; then
    curl -sSf -X PUT "$FANFOLD_URL$url" -H "Authorization: Bearer $FANFOLD_KEY" -H 'Content-Type: application/octet-stream' --data-binary @"$4" >/dev/null
  else
    jq -r '.upload.headers | to_entries[] | "header = \"\(.key): \(.value)\""' <<<"$new" | curl -sSf -K - -X PUT "$url" --data-binary @"$4" >/dev/null
  fi
  jq -c --argjson b "$bytes" --arg s "$sha" '{effect: "publish", zone, key, bytes: $b, sha256: $s, media_type: "text/plain"}' <<<"$new"
}

stages='{}'
while :; do
  claimed=$(say POST "$worker/claim" "$(jq -nc --argjson known "$(jq 'keys | map(tonumber)' <<<"$stages")" '{limit: 1, wait_s: 2, known_stages: $known}')")
  stages=$(jq -c --argjson new "$(jq -c '[.stages[] | {key: (.stage_id | tostring), value: .}] | from_entries' <<<"$claimed")" '. + $new' <<<"$stages")
  task=$(jq -c '.tasks[0] // empty' <<<"$claimed")
  [[ -n $task ]] || exit 0
  jq -r .claim_id <<<"$task" >"$held"
  end=$(jq -c '{task_id, claim_id, attempt}' <<<"$task")
  stage=$(jq -c --arg id "$(jq -r .stage_id <<<"$task")" '.[$id]' <<<"$stages")
  given=$(jq -c --argjson stage "$stage" '.parameters // $stage.parameters // {}' <<<"$task")
  case $(jq -r .task_type <<<"$stage") in
    sh.hello) end=$(jq -c --argjson p "$given" '. + {result: {hello: $p.name}}' <<<"$end") ;;
    sh.file)
      file=$(mktemp); jq -r .text <<<"$given" >"$file"
      effect=$(publish "$end" "shell/$(jq -r .index <<<"$task")" out.txt "$file")
      end=$(jq -c --argjson e "$effect" '. + {result: {key: $e.key}, effects: [$e]}' <<<"$end"); rm -f "$file" ;;
    *) end=$(jq -c '. + {error: {message: "no such handler", code: "no_handler", category: "transient"}}' <<<"$end") ;;
  esac
  say POST "$worker/finish" "$(jq -c '{tasks: [.]}' <<<"$end")" >/dev/null
  : >"$held"
done
