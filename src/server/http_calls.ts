// The commands that SQL names as the next step, as calls of this API: whoever came over HTTP may have no command line.
const commands: readonly [RegExp, (match: RegExpExecArray) => string][] = [
  [/^fanfold (resume|pause|continue|cancel) ([0-9a-f]+)$/, ([, verb, id]) => `POST /api/jobs/${id}/${verb}`],
  [
    /^fanfold retry ([0-9a-f]+|<job>) --stage (\S+)$/,
    ([, id, stage]) => `POST /api/jobs/retry-stage/${placed(id)}/${placed(stage)}`,
  ],
  [
    /^fanfold retry ([0-9a-f]+) --group (\S+)$/,
    ([, id, group]) => `POST /api/jobs/${id}/retry-group {"signature": "${group}"}`,
  ],
  [/^fanfold approve ([0-9a-f]+)$/, ([, id]) => `POST /api/jobs/${id}/approve`],
  [
    /^fanfold approve ([0-9a-f]+) --stage (\S+)$/,
    ([, id, stage]) => `POST /api/jobs/${id}/approve {"stage": "${stage}"}`,
  ],
  [/^fanfold continue --type (\S+)$/, ([, type]) => `POST /api/task-types/${type}/continue`],
  [/^fanfold (?:status|watch) ([0-9a-f]+)$/, ([, id]) => `GET /api/jobs/status/${id}`],
  [/^fanfold (why|verify|errors|events) ([0-9a-f]+)$/, ([, what, id]) => `GET /api/jobs/${id}/${what}`],
  [/^fanfold (?:tasks show|task) (\d+-\d+)$/, ([, id]) => `GET /api/tasks/${id}`],
  [/^fanfold (?:tasks retry|retry|retry --task) (\d+-\d+)$/, ([, id]) => `POST /api/tasks/${id}/retry`],
  [
    /^fanfold tasks reschedule (\d+-\d+) (\S+)$/,
    ([, id, at]) => `POST /api/tasks/${id}/reschedule {"run_at": "${at}"}`,
  ],
  [/^fanfold tasks cancel (\d+-\d+)$/, ([, id]) => `POST /api/tasks/${id}/cancel`],
  [/^fanfold why (\d+-\d+)$/, ([, id]) => `GET /api/tasks/${id}/why`],
  [/^fanfold skip (\d+-\d+) --reason .*$/, ([, id]) => `POST /api/tasks/${id}/skip {"reason": "…"}`],
  [
    /^fanfold (jobs|tasks|schedules|groups|keys|tenants|webhooks|connectors|blueprints|limits|alerts|workers)(?: list)?$/,
    ([, noun]) => `GET /api/${noun}`,
  ],
  [/^fanfold webhooks deliveries$/, () => "GET /api/deliveries"],
  [/^fanfold webhooks enable (\S+)$/, ([, id]) => `PATCH /api/webhooks/${id} {"enabled": true}`],
  [/^fanfold (schedules|groups) show (\S+)$/, ([, noun, name]) => `GET /api/${noun}/${name}`],
  [/^fanfold schedules (pause|continue|run) (\S+)$/, ([, verb, name]) => `POST /api/schedules/${name}/${verb}`],
  [/^fanfold groups (seal|cancel) (\S+)$/, ([, verb, id]) => `POST /api/groups/${id}/${verb}`],
  [/^fanfold limits show (\S+)$/, ([, tenant]) => `GET /api/limits/${placed(tenant)}`],
  [/^fanfold tenants create \S+$/, () => "POST /api/tenants"],
  [/^fanfold keys create$/, () => "POST /api/keys"],
];

/** null when there is no such call. */
export function callFor(command: string | null): string | null {
  if (command === null) return null;
  for (const [pattern, call] of commands) {
    const match = pattern.exec(command);
    if (match !== null) return call(match);
  }
  return null;
}

/** A sentence with the commands in it replaced by calls, as far as there are any. */
export function withCalls(sentence: string): string {
  return sentence
    .replaceAll(/select app\.create_tenant\([^)]*\)/g, "POST /api/tenants")
    .replace(/fanfold [a-z]+(?: (?:"[^"]*"|[^\s;,)"]+))*/g, longestCall);
}

/** Words of the sentence may stand right behind a command: the longest beginning that is one counts. */
function longestCall(text: string): string {
  const words = text.match(/"[^"]*"|[^\s"]+/g) ?? [];
  for (let count = Math.min(words.length, 8); count >= 2; count--) {
    const call = callFor(words.slice(0, count).join(" "));
    if (call !== null) return [call, ...words.slice(count)].join(" ");
  }
  return text;
}

/** <stage> on the command line is {stage} in a path. */
function placed(part: string | undefined): string {
  return (part ?? "").replace(/^<(.+)>$/, "{$1}").replace(/^\{job\}$/, "{job_id}");
}
