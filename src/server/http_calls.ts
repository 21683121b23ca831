// The commands that SQL names as the next step, as calls of this API: whoever came over HTTP may have no command line.
const commands: readonly [RegExp, (match: RegExpExecArray) => string][] = [
  [/^fanfold (resume|pause|continue|cancel) ([0-9a-f]+)$/, ([, verb, id]) => `POST /api/jobs/${id}/${verb}`],
  [/^fanfold retry ([0-9a-f]+) --stage (\S+)$/, ([, id, stage]) => `POST /api/jobs/retry-stage/${id}/${stage}`],
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
  [/^fanfold tasks retry (\d+-\d+)$/, ([, id]) => `POST /api/tasks/${id}/retry`],
  [/^fanfold retry (\d+-\d+)$/, ([, id]) => `POST /api/tasks/${id}/retry`],
  [/^fanfold why (\d+-\d+)$/, ([, id]) => `GET /api/tasks/${id}/why`],
  [/^fanfold skip (\d+-\d+) --reason .*$/, ([, id]) => `POST /api/tasks/${id}/skip {"reason": "…"}`],
  [/^fanfold jobs$/, () => "GET /api/jobs"],
  [/^fanfold tasks list$/, () => "GET /api/tasks"],
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
    .replace(
      /fanfold [a-z]+(?: [0-9a-z_-]+| --(?:stage|group|type|reason) [^\s;,)]+)*/g,
      (command) => callFor(command) ?? command,
    );
}
