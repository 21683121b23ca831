#!/usr/bin/env bash
# One raster through a platform request with curl alone: upload, submit, status until it waits for a person, approve, status until 200, every
# service link followed, and revoked again. URL, KEY (scopes submit, read, operate) and FILE come from the environment.
set -euo pipefail

ask() { curl -sS -H "Authorization: Bearer $KEY" -H "Content-Type: application/json" "$@"; }
# The first text of this name in a JSON answer.
first() { grep -oE "\"$1\": ?\"[^\"]*\"" | head -n 1 | sed -E 's/.*: ?"(.*)"/\1/'; }

bytes=$(wc -c < "$FILE" | tr -d ' ')
upload=$(ask "$URL/api/files" -d "{\"key\": \"requests/example.tif\", \"bytes\": $bytes, \"overwrite\": true}")
upload_id=$(first upload_id <<< "$upload")
curl -sS -o /dev/null -H "Authorization: Bearer $KEY" -T "$FILE" "$URL$(first url <<< "$upload")"
ref=$(ask -X POST "$URL/api/files/$upload_id/complete" | first ref)
echo "uploaded: $ref"

version=${VERSION:-1}
request='{"dataset_id": "example", "resource_id": "relief", "version_id": "'$version'", "files": ["'$ref'"],
  "parameters": {"approval": true, "publication": {"datetime": "2024-01-01T00:00:00Z"}}, "client_id": "curl"}'
would=$(ask "$URL/api/platform/submit?dry_run=true" -d "$request")
echo "would be: $(first data_type <<< "$would")"
request_id=$(ask "$URL/api/platform/submit" -d "$request" | first request_id)

# 202 and Retry-After while it is under way.
status() {
  answer=$(ask -D "$headers" "$URL/api/platform/status/$request_id")
  code=$(sed -nE '1s/^[^ ]+ ([0-9]+).*/\1/p' "$headers")
}
headers=$(mktemp)
trap 'rm -f "$headers"' EXIT
until status && { [ "$code" != 202 ] || grep -q '"waits_for_approval": \{0,1\}"' <<< "$answer"; }; do
  sleep "$(sed -nE 's/^[Rr]etry-[Aa]fter: ([0-9]+).*/\1/p' "$headers")"
done
echo "waits for approval of: $(first waits_for_approval <<< "$answer")"
ask -o /dev/null "$URL/api/platform/requests/$request_id/decide" -d '{"approved": true, "reason": "looks right"}'
until status && [ "$code" != 202 ]; do
  sleep "$(sed -nE 's/^[Rr]etry-[Aa]fter: ([0-9]+).*/\1/p' "$headers")"
done
grep -q '"status": \{0,1\}"completed"' <<< "$answer" && echo "the request is completed"

links=$(grep -oE '"href": ?"[^"]+"' <<< "$answer" | sed -E 's/.*: ?"(.*)"/\1/')
while read -r link; do
  followed=$(curl -sS -o /dev/null -w '%{http_code}' -H "Authorization: Bearer $KEY" "$link")
  [ "$followed" = 200 ] || { echo "$link answered $followed" >&2; exit 1; }
done <<< "$links"
echo "followed $(wc -l <<< "$links" | tr -d ' ') links"

# Revoked it is taken down, its items and its files: listed first, as a dry run.
release="example/relief/$version"
listed=$(ask "$URL/api/platform/unpublish" -d '{"id": "'$release'"}')
echo "would go: $(grep -oE '"file_count": ?[0-9]+' <<< "$listed" | grep -oE '[0-9]+') files"
ask -o /dev/null "$URL/api/platform/revoke" -d '{"id": "'$release'", "reason": "only an example"}'
item=$(grep '/items/' <<< "$links" | head -n 1)
for _ in $(seq 60); do
  gone=$(curl -sS -o /dev/null -w '%{http_code}' -H "Authorization: Bearer $KEY" "$item")
  [ "$gone" != 404 ] || break
  sleep 1
done
[ "$gone" = 404 ] && echo "revoked, and taken down"
