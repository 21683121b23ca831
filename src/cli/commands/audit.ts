// fanfold audit: who did what, over all jobs and settings of the tenant.

import { audit_api } from "../../core/api/audit.js";
import type { ReplyOf } from "../../core/api/endpoint.js";
import type { Problem } from "../../core/errors/problems.js";
import { printable } from "../../core/values/printable.js";
import { answer, type Cli } from "../terminal/command.js";
import { usage } from "../terminal/failure.js";
import { wholeNumber } from "../terminal/options.js";
import { withSession } from "../terminal/session.js";
import { dataText, moment, tableAndText } from "../terminal/summary.js";
import { shortId } from "../terminal/view.js";

interface AuditFlags {
  limit?: string;
  actor?: string;
  kind?: string;
  job?: string;
  after?: string;
  before?: string;
  /** false: --no-submits. */
  submits: boolean;
}

export function addAudit(cli: Cli): void {
  cli.program
    .command("audit")
    .summary("show who did what")
    .description("Tells what people and keys did, newest first; not what the engine did by itself.")
    .option("--actor <who>", "a key as key:<id>, or a login")
    .option("--kind <kind>", "one kind such as key.created, or key. for all that begin so")
    .option("--job <job>", "only about this job")
    .option("--after <time>", "ISO 8601")
    .option("--before <time>", "ISO 8601")
    .option("--no-submits", "without the submits, of which there may be very many")
    .option("--limit <number>", "rows of a page, 1 to 1000 (default 50)")
    .examples("fanfold audit --no-submits", "fanfold audit --kind key.", "fanfold audit --actor ada --limit 200 --json")
    .action(async ({ limit: rows, job, submits, ...flags }: AuditFlags) => {
      const problems: Problem[] = [];
      const limit = wholeNumber("--limit", rows, 1, 1000, problems) ?? 50;
      for (const name of ["after", "before"] as const) {
        const text = flags[name];
        if (text === undefined) continue;
        const at = new Date(text);
        if (Number.isNaN(at.getTime())) {
          problems.push({ path: `--${name}`, problem: "is not a time", fix: "write it as 2030-01-31T12:00:00Z" });
        } else flags[name] = at.toISOString();
      }
      if (problems.length > 0) throw usage("this cannot be listed", { problems });
      await withSession(cli, async ({ engine }) => {
        const about = job === undefined ? {} : { job_id: (await engine.status(job)).job_id };
        const page = await engine.call(audit_api.list, { ...flags, ...about, submits, limit });
        answer(cli, page, () => auditLines(page.deeds, cli.io.width()));
      });
    });
}

function* auditLines(deeds: ReplyOf<typeof audit_api.list>["deeds"], width: number): Generator<string> {
  if (deeds.length === 0) {
    yield "no entries";
    return;
  }
  const rows = deeds.map(({ at, kind, actor, key_name, job_id, stage, reason, data }) => ({
    cells: [
      moment(at),
      kind,
      printable(key_name === null ? actor : `${key_name} ${actor}`, 40),
      job_id === null ? "" : shortId(job_id),
    ],
    text: [stage ?? "", reason === null ? "" : `"${reason}"`, dataText(data)].filter((text) => text !== "").join("  "),
  }));
  yield* tableAndText(["TIME", "WHAT", "WHO", "JOB"], rows, width);
}
