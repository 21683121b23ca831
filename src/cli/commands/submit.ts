// fanfold submit: one job in, and with --wait its end out.

import { moment } from "../../core/api/fields.js";
import { deadline_moments } from "../../core/declare/deadline.js";
import type { Job } from "../../core/declare/declare.js";
import { validateParameters } from "../../core/declare/parameters.js";
import type { Registry } from "../../core/declare/registry.js";
import { didYouMean, type Problem } from "../../core/errors/problems.js";
import { isTerminal } from "../../core/shown/statuses.js";
import { printable } from "../../core/values/printable.js";
import type { WouldSubmit } from "../../engine/verbs/dry_run.js";
import type { SubmitReply } from "../../engine/verbs/records.js";
import { answer, type Cli, globals } from "../terminal/command.js";
import { problemsOf, usage } from "../terminal/failure.js";
import { note } from "../terminal/io.js";
import {
  collect,
  deadlineOf,
  labelsOf,
  metadataOf,
  oneOf,
  priorityOf,
  retryOf,
  stageOptionsOf,
  webhooksOf,
} from "../terminal/options.js";
import type { Parameters } from "../terminal/pairs.js";
import { gatherParameters } from "../terminal/parameters.js";
import { registryOf, withSession } from "../terminal/session.js";
import { howToFollow } from "../terminal/summary.js";
import { shortId } from "../terminal/view.js";
import { timeoutOf, type WaitFlags, waitForEnd } from "../terminal/wait.js";

interface SubmitOptions extends WaitFlags {
  at?: string;
  mode?: string;
  resume?: boolean;
  priority?: string;
  label?: string[];
  metadata?: string;
  parameters?: string;
  /** false: --no-deadline. */
  deadline?: string | false;
  deadlineFrom?: string;
  correlationId?: string;
  dependsOn?: string[];
  onDependencyFailure?: string;
  require?: string;
  group?: string;
  webhook?: string[];
  retry?: string;
  stageOption?: string[];
  dryRun?: boolean;
}

export function addSubmit(cli: Cli): void {
  cli.program
    .command("submit")
    .summary("submit a job")
    .description("Submits a job. The same type with the same parameters is the same job: submitting twice is safe.")
    .argument("<type>", "job type, for example hello_world")
    .argument("[pairs...]", "parameters as key=value; JSON values are taken as JSON, a.b=1 is nested")
    .waitOptions()
    .option(
      "--mode <mode>",
      "reuse: the job there is, whatever its status (default); resume: that one, and it goes on if it did not end well; force: a new run",
    )
    .option("--resume", "short for --mode resume")
    .option("--priority <number>", "higher runs first (default 0)")
    .option("--label <key=value>", "a label to find the job by; may be repeated", collect)
    .option("--metadata <json>", "an object that is kept with the job and shown with it, at most 16 KB")
    .option("--parameters <json>", "parameters as JSON text, @file.json, or - for standard input")
    .option(
      "--deadline <seconds>",
      "fail the job if it has not ended this long after its work started (default: its type's, else 7200)",
    )
    .option("--deadline-from <moment>", "start (of its work, usual) or submit: what it waits counts too")
    .option("--at <time>", "not before this time, for example 2030-01-31T08:00:00Z; until then it waits")
    .option("--no-deadline", "however long it takes")
    .option("--correlation-id <text>", "an id of yours, to find the job in logs and traces")
    .option("--depends-on <job>", "start when this job has ended well; may be repeated", collect)
    .option("--on-dependency-failure <what>", "when one of those does not end well: cancel this one (default), or run")
    .option("--require <how>", "of those: success (default), or completed, to which a partial success is not enough")
    .option("--group <group>", "the group it belongs to; it opens when it is first named")
    .option(
      "--webhook <receiver>",
      "who else hears how it ends: an endpoint (we_…), or JSON with url and secret; may be repeated",
      collect,
    )
    .option(
      "--retry <settings>",
      "how its failed tasks are tried again, whatever its stages say: attempts=5,base_s=1,cap_s=60,within_s=900, any of them",
    )
    .option(
      "--stage-option <stage.setting=number>",
      "of one stage, as far as its type allows: tiles.max_parallel=8, tiles.failure_budget.percent=5, tiles.retry.base_s=2; may be repeated",
      collect,
    )
    .option("--dry-run", "only say what it would do, or why it would be refused")
    .examples(
      "fanfold submit hello_world n=5 --wait",
      "fanfold submit process_raster source=bronze:scenes/dem.tif collection=dem --wait",
      "fanfold blueprints show process_raster        its parameters",
      "fanfold submit file_digest folder=/data/maps --label team=maps --priority 10",
      "fanfold submit file_digest folder=/data/maps --resume --wait",
      "fanfold submit hello_world n=5 --dry-run",
      "fanfold submit hello_world n=9 --depends-on 3f2a9c --group night-7",
      "fanfold submit file_digest --parameters @request.json --mode force --json",
      "echo '{\"n\": 2}' | fanfold submit hello_world --parameters -",
    )
    .action((type: string, pairs: string[], options: SubmitOptions) => submit(cli, type, pairs, options));
}

function momentOf(text: string | undefined, problems: Problem[]): string | undefined {
  const read = moment.safeParse(text);
  if (text === undefined || read.success) return read.data;
  problems.push({ path: "--at", problem: "is not a time with its offset", fix: "--at 2030-01-31T08:00:00Z" });
  return undefined;
}

async function submit(cli: Cli, type: string, pairs: string[], options: SubmitOptions): Promise<void> {
  // Everything that can be wrong is found before the database is opened, and told together.
  const problems: Problem[] = [];
  const registry = await registryOf(cli);
  const timeout_s = timeoutOf(options, problems, "add --wait, or did you mean --deadline?");
  const submit_options = {
    mode: modeOf(options, problems),
    priority: priorityOf(options.priority, problems),
    labels: labelsOf(options.label, problems),
    metadata: metadataOf(options.metadata, problems),
    deadline_s: deadlineOf(options.deadline, problems),
    deadline_from: oneOf("--deadline-from", options.deadlineFrom, deadline_moments, problems),
    run_at: momentOf(options.at, problems),
    correlation_id: options.correlationId,
    on_dependency_failure: oneOf("--on-dependency-failure", options.onDependencyFailure, ["cancel", "run"], problems),
    require: oneOf("--require", options.require, ["success", "completed"], problems),
    group_id: options.group,
    webhooks: webhooksOf(options.webhook, problems),
    retry: retryOf(options.retry, problems),
    stage_options: stageOptionsOf(options.stageOption, problems),
  };
  if (options.dryRun && options.wait) {
    problems.push({ path: "--wait", problem: "a dry run makes nothing to wait for", fix: "leave one of them out" });
  }
  const parameters = await gatherParameters(cli.io, pairs, options.parameters, problems);
  await checkParameters(registry, type, parameters, problems);
  if (problems.length > 0) {
    const next = `fanfold submit ${registry.jobs.has(type) ? signatureOf(registry.jobs.get(type) as Job) : "--help"}`;
    throw usage(`this cannot be submitted as ${printable(type, 63)}`, { problems, next });
  }

  await withSession(
    cli,
    async (session) => {
      // Whole ids: the first characters of one may be those of another tomorrow.
      const depends_on: string[] = [];
      for (const id of options.dependsOn ?? []) depends_on.push((await session.engine.status(id)).job_id);
      if (options.dryRun) {
        const told = await session.engine.dryRun(type, parameters, definedOf({ ...submit_options, depends_on }));
        return answer(cli, told, () => foreseenLines(told));
      }
      const user = cli.io.user();
      const reply = await session.engine.submit(type, parameters, {
        ...submit_options,
        depends_on,
        // Who did it, for the job's story: the database knows only the role.
        ...(user === null ? {} : { actor: user }),
      });
      if (!options.wait) return answer(cli, reply, () => replyLines(session.engine.db.kind, reply));
      if (!globals(cli).json) note(cli.io, announcement(type, reply));
      cli.exit_code = await waitForEnd(cli, session, reply.job_id, { timeout_s, reply });
    },
    { registry, needs_catalog: usesCatalog(registry.jobs.get(type)) },
  );
}

/** Without what was not given. */
function definedOf<T extends object>(options: T): { [Key in keyof T]: Exclude<T[Key], undefined> } {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)) as never;
}

/** PostGIS takes ten seconds at the first start and a GB: only who catalogues pays for it. */
export function usesCatalog(job: Job | undefined): boolean {
  return job?.blueprint.stages.some(({ task }) => task.startsWith("stac.")) ?? false;
}

function modeOf({ mode, resume }: SubmitOptions, problems: Problem[]): "reuse" | "resume" | "force" | undefined {
  if (resume && mode !== undefined && mode !== "resume") {
    problems.push({ path: "--resume", problem: `is --mode resume, not ${mode}`, fix: "leave one of them out" });
  }
  return resume ? "resume" : oneOf("--mode", mode, ["reuse", "resume", "force"] as const, problems);
}

async function checkParameters(
  { jobs }: Registry,
  type: string,
  parameters: Parameters,
  problems: Problem[],
): Promise<void> {
  const job = jobs.get(type);
  if (!job) {
    const known = `known: ${[...jobs.keys()].sort().join(", ")}`;
    const close = didYouMean(type, jobs.keys());
    problems.push({
      path: "",
      problem: `there is no job type "${printable(type, 63)}"; ${known}`,
      fix: close === null ? "" : `Did you mean ${JSON.stringify(close)}?`,
    });
    return;
  }
  try {
    await validateParameters(job, parameters);
  } catch (error) {
    problems.push(...problemsOf(error));
  }
}

/** How the job is called, from its own schema: `hello_world [n=3]`, `file_digest folder=<string>`. */
function signatureOf({ type, blueprint }: Job): string {
  const { properties = {}, required = [] } = (blueprint.parameters ?? {}) as JsonSchema;
  const words = Object.entries(properties).map(([name, schema]) => {
    if (schema.default !== undefined) return `[${name}=${JSON.stringify(schema.default)}]`;
    const word = `${name}=<${schema.type ?? "value"}>`;
    return required.includes(name) ? word : `[${word}]`;
  });
  return [type, ...words].join(" ");
}

interface JsonSchema {
  properties?: Record<string, { type?: string; default?: unknown }>;
  required?: string[];
}

function announcement(type: string, reply: SubmitReply): string {
  const what = `${printable(type)} ${shortId(reply.job_id)}`;
  if (reply.created) return `submitted ${what}`;
  if (reply.resumed) return `resumed ${what} (epoch ${reply.epoch})`;
  const again = reply.status === "completed" ? "--mode force runs it again" : "--resume lets it go on";
  return `${what} exists already (${reply.status})${isTerminal(reply.status) ? `; ${again}` : ""}`;
}

function* foreseenLines(told: WouldSubmit): Generator<string> {
  const word = { create: "would submit", reuse: "exists already", resume: "would resume" }[told.would];
  yield `${word}  ${told.job_id}${told.exists !== null && told.would !== "create" ? `  ${told.exists.status}` : ""}`;
  yield `  ${printable(told.hint)}`;
  if (told.resume !== null) {
    yield `  from stage ${told.resume.from_stage}: ${told.resume.again} tasks again, ${told.resume.kept} kept`;
  }
  for (const { number, name, task, tasks, why, gate, conditional, served } of told.stages) {
    const count = tasks === null ? "? tasks" : `${tasks} task${tasks === 1 ? "" : "s"}`;
    const notes = [
      why,
      gate === null ? null : `asks first: ${gate}`,
      conditional ? "only if its condition is met" : null,
      served ? null : `no live worker serves ${task}`,
    ].filter((one) => one !== null);
    yield `  ${number}  ${name}  ${count}${notes.length === 0 ? "" : `  (${printable(notes.join("; "))})`}`;
  }
  yield "  nothing was written";
}

function* replyLines(kind: "server" | "embedded", reply: SubmitReply): Generator<string> {
  const word = reply.created ? "submitted" : reply.resumed ? "resumed" : "exists already";
  yield `${word}  ${reply.job_id}  ${reply.status}`;
  if (reply.resumed) yield `  epoch ${reply.epoch}: what completed is kept, the rest runs again`;
  else if (!reply.created && reply.hint) yield `  ${printable(reply.hint)}`;
  yield* howToFollow(kind, reply.status, reply.job_id);
}
