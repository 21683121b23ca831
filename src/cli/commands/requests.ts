// fanfold requests: one dataset in, several jobs, one answer out. Submitted, followed live, listed, repaired.
import { request_statuses } from "../../core/api/platform/requests.js";
import type { Problem } from "../../core/errors/problems.js";
import { printable } from "../../core/values/printable.js";
import type { RecipeRecord } from "../../engine/verbs/recipes.js";
import type { RequestFailures, RequestPage } from "../../engine/verbs/requests.js";
import { answer, type Cli, type CliCommand } from "../terminal/command.js";
import { usage } from "../terminal/failure.js";
import { count } from "../terminal/figures.js";
import { positiveSeconds, wholeNumber } from "../terminal/options.js";
import { followRequest, requestLines } from "../terminal/request_view.js";
import { answering, withSession } from "../terminal/session.js";
import { moment, table } from "../terminal/summary.js";
import { type VerbFlags, verbOptions } from "../terminal/verb.js";
import { addRequestSubmit } from "./request_submit.js";

export function addRequests(cli: Cli): void {
  const requests = cli.program
    .command("requests")
    .alias("request")
    .summary("submit, follow, list and repair platform requests")
    .description(
      "Platform requests: a dataset, resource and version that is to be processed. A recipe says which jobs that takes; the request\n" +
        "ends with the last of them, and answers with what was made.",
    )
    .examples(
      "fanfold requests submit scene.tif --dataset dem --resource alps --version-id 1 --wait",
      "fanfold requests show dem/alps/1",
      "fanfold requests failures --hours 24",
    );
  addList(cli, requests);
  addShow(cli, requests);
  addRequestSubmit(cli, requests);
  addWatchRequest(cli, requests);
  addCancelRequest(cli, requests);
  addResubmit(cli, requests);
  addDecide(cli, requests);
  addFailures(cli, requests);
  addRecipes(cli, requests);
}

function addList(cli: Cli, requests: CliCommand): void {
  requests
    .command("list", { isDefault: true })
    .summary("list requests, newest first")
    .option("--status <status>", `only these, with commas between them: ${request_statuses.join(", ")}`)
    .option("--dataset <id>", "only of this dataset")
    .option("--resource <id>", "only of this resource")
    .option("--data-type <type>", "only of this data type")
    .option("--client <id>", "only of this client system")
    .option("--text <part>", "only with this in dataset/resource/version, or an id that begins so")
    .pageOptions()
    .examples("fanfold requests list --status failed,partial_success")
    .action(async (flags: Record<string, string | undefined>) => {
      const problems: Problem[] = [];
      const limit = wholeNumber("--limit", flags.limit, 1, 1000, problems) ?? 20;
      const known = (flags.status ?? "")
        .split(",")
        .every((one) => one === "" || request_statuses.includes(one as never));
      if (!known)
        problems.push({ path: "--status", problem: "is not known", fix: `choose from ${request_statuses.join(", ")}` });
      if (problems.length > 0) throw usage("these requests cannot be listed", { problems });
      await withSession(cli, async ({ engine }) => {
        const page = await engine.requests.list({
          status: flags.status,
          dataset_id: flags.dataset,
          resource_id: flags.resource,
          data_type: flags.dataType,
          client_id: flags.client,
          text: flags.text,
          limit,
          cursor: flags.cursor,
        });
        answer(cli, page, () => listLines(page, cli.io.width()));
      });
    });
}

function* listLines({ requests, next }: RequestPage, width: number): Generator<string> {
  if (requests.length === 0) yield "no requests";
  const rows = requests.map((one) => [
    one.request_id.slice(0, 12),
    printable(`${one.dataset_id}/${one.resource_id}/${one.version_id}`),
    one.data_type,
    one.status,
    `${one.jobs.filter(({ status }) => status === "completed").length}/${one.jobs.length}`,
    moment(one.created_at),
  ]);
  if (rows.length > 0) yield* table(["REQUEST", "DATASET", "TYPE", "STATUS", "JOBS", "CREATED"], rows, width);
  if (next !== null) yield `more: add --cursor ${next}`;
}

const id_words = "id of the request or of a job of it, or dataset/resource[/version]";

function addShow(cli: Cli, requests: CliCommand): void {
  requests
    .command("show")
    .summary("show a request: its jobs, what it made, what went wrong")
    .argument("<request>", id_words)
    .examples("fanfold requests show dem/alps/1", "fanfold requests show 3f2a9c81 --json | jq .result_data")
    .action(async (id: string) => {
      await withSession(cli, async ({ engine }) => {
        const request = await engine.requests.get(id);
        answer(cli, request, () => requestLines(request, { width: cli.io.width(), colour: cli.io.colour }));
      });
    });
}

function addWatchRequest(cli: Cli, requests: CliCommand): void {
  requests
    .command("watch")
    .summary("follow a request and its jobs to the end")
    .description(
      "Follows a request: a live line per job on a terminal, plain lines in a pipe, one JSON document per change with --json.\n" +
        "Exit code: 0 completed, 1 failed or cancelled, 3 partial success, 124 --timeout, 130 detached.",
    )
    .argument("<request>", id_words)
    .option("--timeout <seconds>", "stop watching after that time (exit 124)")
    .examples("fanfold requests watch dem/alps/1")
    .action(async (id: string, flags: { timeout?: string }) => {
      const problems: Problem[] = [];
      const timeout_s = positiveSeconds("--timeout", flags.timeout, problems);
      if (problems.length > 0) throw usage("this cannot be watched", { problems });
      await withSession(cli, async (session) => {
        cli.exit_code = await followRequest(cli, session, id, { timeout_s, stream: true });
      });
    });
}

function addCancelRequest(cli: Cli, requests: CliCommand): void {
  requests
    .command("cancel")
    .summary("cancel a request and its open jobs")
    .argument("<request>", id_words)
    .verbOptions()
    .examples("fanfold requests cancel dem/alps/1 --dry-run")
    .action(async (id: string, flags: VerbFlags) => {
      const { actor, reason, dry_run } = verbOptions(cli, flags);
      await withSession(cli, async ({ engine }) => {
        const given = { reason: reason ?? undefined, dry_run };
        const reply = await engine.requests.cancel(id, { ...given, actor: actor ?? undefined });
        const jobs = reply.open_jobs === 1 ? "1 open job" : `${count(reply.open_jobs)} open jobs`;
        answer(cli, reply, () => [
          reply.dry_run
            ? `would cancel ${reply.request_id} with ${jobs}; nothing was changed`
            : reply.changed
              ? `cancelled  ${reply.request_id} with ${jobs}`
              : `nothing changed: ${reply.request_id} is ${reply.status} already`,
        ]);
      });
    });
}

function addResubmit(cli: Cli, requests: CliCommand): void {
  requests
    .command("resubmit")
    .summary("go on with what failed, or process it again")
    .argument("<request>", id_words)
    .option("--force", "process all of it again, as the next run")
    .reasonOption()
    .actorOption()
    .examples("fanfold requests resubmit dem/alps/1", "fanfold requests resubmit dem/alps/1 --force")
    .action(async (id: string, flags: VerbFlags & { force?: boolean; reason?: string }) => {
      const { actor } = verbOptions(cli, flags);
      await withSession(cli, async ({ engine }) => {
        const given = { mode: flags.force === true ? ("force" as const) : ("resume" as const), reason: flags.reason };
        const reply = await engine.requests.resubmit(id, { ...given, actor: actor ?? undefined });
        answer(cli, reply, () => [
          `${reply.resumed ? "resumed" : "submitted"}  ${reply.request_id}  run ${reply.run}`,
          `  follow it: fanfold requests watch ${reply.request_id.slice(0, 12)}`,
        ]);
      });
    });
}

function addDecide(cli: Cli, requests: CliCommand): void {
  requests
    .command("decide")
    .summary("approve or reject a job of a request that waits for a person")
    .argument("<request>", id_words)
    .option("--approve", "let it go on")
    .option("--reject", "fail it; needs --reason")
    .option("--job <name>", "which job; the first that waits when left out")
    .option("--reason <text>", "why; kept in the history")
    .option("--by <who>", "who decides; kept in the history (default: your login on this machine)")
    .examples("fanfold requests decide dem/alps/1 --approve")
    .action(
      async (id: string, flags: VerbFlags & { approve?: boolean; reject?: boolean; job?: string; reason?: string }) => {
        if ((flags.approve === true) === (flags.reject === true))
          throw usage("say either --approve or --reject", { next: "fanfold requests decide --help" });
        const { actor } = verbOptions(cli, flags);
        await withSession(cli, async ({ engine }) => {
          const given = { approved: flags.approve === true, job: flags.job, reason: flags.reason };
          const reply = await engine.requests.decide(id, { ...given, actor: actor ?? undefined });
          answer(cli, reply, () => [
            `${flags.approve === true ? "approved" : "rejected"}  ${reply.request_id}  ${reply.status}`,
          ]);
        });
      },
    );
}

function addFailures(cli: Cli, requests: CliCommand): void {
  requests
    .command("failures")
    .summary("what goes wrong with requests, as patterns")
    .option("--hours <number>", "how many hours to look back, 1 to 720 (default 24)")
    .option("--limit <number>", "how many patterns to show at most (default 20)")
    .examples("fanfold requests failures --hours 168")
    .action(async (flags: { hours?: string; limit?: string }) => {
      const problems: Problem[] = [];
      const hours = wholeNumber("--hours", flags.hours, 1, 720, problems) ?? 24;
      const limit = wholeNumber("--limit", flags.limit, 1, 200, problems) ?? 20;
      if (problems.length > 0) throw usage("these failures cannot be listed", { problems });
      await answering(cli, ({ engine }) => engine.requests.failures({ hours, limit }), failureLines);
    });
}

function* failureLines(told: RequestFailures, width: number): Generator<string> {
  yield `${count(told.total)} requests in ${told.hours} h: ${count(told.failed)} failed, ${count(told.partial_success)} in part`;
  const rows = told.patterns.map((one) => [
    count(one.requests),
    one.data_type,
    one.job,
    printable(one.pattern),
    moment(one.last_at),
  ]);
  if (rows.length > 0) yield* table(["REQUESTS", "TYPE", "JOB", "PATTERN", "LAST"], rows, width);
}

function addRecipes(cli: Cli, requests: CliCommand): void {
  requests
    .command("recipes")
    .summary("what may be asked for, and which jobs it becomes")
    .examples("fanfold requests recipes")
    .action(async () => {
      await withSession(cli, async ({ engine }) => {
        const recipes = await engine.recipes.list();
        answer(cli, { recipes }, () => recipeLines(recipes, cli.io.width()));
      });
    });
}

function* recipeLines(recipes: readonly RecipeRecord[], width: number): Generator<string> {
  if (recipes.length === 0) yield "no recipes";
  const rows = recipes.map((one) => [
    one.data_type,
    one.accepts === null ? "" : `${one.accepts.extensions.join(" ")}${one.accepts.min_files > 1 ? " …" : ""}`,
    one.jobs.map(({ name }) => name).join(" → "),
    one.source === "saved" ? `version ${one.version}` : "in code",
  ]);
  if (rows.length > 0) yield* table(["DATA TYPE", "FILES", "JOBS", ""], rows, width);
}
