// fanfold pause and fanfold continue: a job, all that fit a filter, or a task type of this tenant, stands still for a while.
import { printable } from "../../core/values/printable.js";
import type { JobPauseReply, TypePauseReply } from "../../engine/verbs/operator.js";
import { type FilterFlags, onAllThatFit } from "../terminal/bulk.js";
import { answer, type Cli } from "../terminal/command.js";
import { tasks } from "../terminal/figures.js";
import { withSession } from "../terminal/session.js";
import { exactlyOne, type VerbFlags, verbOptions } from "../terminal/verb.js";
import { shortId } from "../terminal/view.js";

interface PauseFlags extends VerbFlags, FilterFlags {
  type?: string;
}

export function addPause(cli: Cli): void {
  cli.program
    .command("pause")
    .summary("let a job, all that fit a filter, or a task type stand still")
    .description(
      "Pauses a job, or with --type all tasks of a type: nothing of it is started, what runs may finish. " +
        "A paused job's deadline waits with it.",
    )
    .argument("[job]", "job id, or the first characters of it")
    .option("--type <task type>", "all tasks of this type, in all jobs of the tenant")
    .filterOption()
    .verbOptions()
    .examples(
      'fanfold pause 3f2a9c --reason "the disk is full"',
      "fanfold pause --type raster.cog --dry-run",
      "fanfold pause --filter label:team=hydro",
      "fanfold continue 3f2a9c",
    )
    .action((job: string | undefined, flags: PauseFlags) => change(cli, "pause", job, flags));
}

export function addContinue(cli: Cli): void {
  cli.program
    .command("continue")
    .summary("let what was paused go on")
    .description("Lets a paused job, or with --type a paused task type, go on.")
    .argument("[job]", "job id, or the first characters of it")
    .option("--type <task type>", "all tasks of this type, in all jobs of the tenant")
    .filterOption()
    .verbOptions()
    .examples(
      "fanfold continue 3f2a9c",
      "fanfold continue --type raster.cog --dry-run",
      "fanfold continue --filter is:paused",
    )
    .action((job: string | undefined, flags: PauseFlags) => change(cli, "continue", job, flags));
}

async function change(cli: Cli, verb: "pause" | "continue", job: string | undefined, flags: PauseFlags): Promise<void> {
  exactlyOne(
    verb,
    { "<job>": job, "--type": flags.type, "--filter": flags.filter },
    `fanfold ${verb} <job>, or fanfold ${verb} --type <task type>`,
  );
  if (flags.filter !== undefined) return onAllThatFit(cli, verb, flags);
  const options = verbOptions(cli, flags);
  await withSession(cli, async ({ engine: { operate } }) => {
    const reply =
      job !== undefined
        ? await (verb === "pause" ? operate.pause(job, options) : operate.continue(job, options))
        : await (verb === "pause"
            ? operate.pauseType(flags.type as string, options)
            : operate.continueType(flags.type as string, options));
    answer(cli, reply, () => (verb === "pause" ? pauseLines(reply) : continueLines(reply)));
  });
}

function* pauseLines(reply: JobPauseReply | TypePauseReply): Generator<string> {
  const { what, target } = named(reply);
  const waits = `${tasks(reply.queued)} that ${reply.queued === 1 ? "is" : "are"} queued`;
  if (reply.changed) yield `paused  ${what}: ${waits} will wait; what runs may finish`;
  else if (reply.paused) yield `nothing changed: ${what} is paused already`;
  else yield `would pause ${what}: ${waits} would wait; nothing was changed`;
  if (reply.paused) yield `  go on: fanfold continue ${target}`;
}

function* continueLines(reply: JobPauseReply | TypePauseReply): Generator<string> {
  const { what, target } = named(reply);
  const waits = `${tasks(reply.queued)} that ${reply.queued === 1 ? "is" : "are"} queued`;
  if (reply.changed) yield `goes on  ${what}: ${waits} may run`;
  else if (reply.paused) yield `would let ${what} go on: ${waits} could run; nothing was changed`;
  else yield `nothing changed: ${what} is not paused`;
  if (reply.changed && "job_id" in reply) yield `  follow it: fanfold watch ${target}`;
}

function named(reply: JobPauseReply | TypePauseReply): { what: string; target: string } {
  if ("job_id" in reply) return { what: `job ${shortId(reply.job_id)}`, target: shortId(reply.job_id) };
  const type = printable(reply.task_type, 100);
  return { what: `task type ${type}`, target: `--type ${type}` };
}
