// fanfold approve and fanfold reject: the word of a person that a stage with a gate waits for.
import { NotAllowedNow } from "../../core/errors/errors.js";
import { printable } from "../../core/values/printable.js";
import type { GateReply } from "../../engine/verbs/operator.js";
import type { JobRecord, StageRecord } from "../../engine/verbs/records.js";
import { answer, type Cli } from "../terminal/command.js";
import { usage } from "../terminal/failure.js";
import { withSession } from "../terminal/session.js";
import { moment } from "../terminal/summary.js";
import { reasonOf, type VerbFlags, verbOptions } from "../terminal/verb.js";
import { isPaused, shortId } from "../terminal/view.js";

interface GateFlags extends VerbFlags {
  stage?: string;
}

export function addApprove(cli: Cli): void {
  cli.program
    .command("approve")
    .summary("let a stage that waits for approval begin")
    .description("Approves a stage that waits for a person: it begins. Who approved it and why is kept.")
    .argument("<job>", "job id, or the first characters of it")
    .option("--stage <stage>", "name or number; may be left out when one stage waits")
    .verbOptions()
    .examples("fanfold approve 3f2a9c", 'fanfold approve 3f2a9c --stage publish --reason "looks good" --by ada')
    .action((job: string, flags: GateFlags) => decide(cli, "approve", job, flags));
}

export function addReject(cli: Cli): void {
  cli.program
    .command("reject")
    .summary("fail a stage that waits for approval")
    .description(
      "Rejects a stage that waits for a person: it fails, and its importance says what that means for the job.",
    )
    .argument("<job>", "job id, or the first characters of it")
    .option("--stage <stage>", "name or number; may be left out when one stage waits")
    .verbOptions()
    .examples('fanfold reject 3f2a9c --reason "half of the tiles are black"')
    .action((job: string, flags: GateFlags) => decide(cli, "reject", job, flags));
}

async function decide(cli: Cli, verb: "approve" | "reject", job: string, flags: GateFlags): Promise<void> {
  const options = verbOptions(cli, flags);
  const reason =
    verb === "reject"
      ? reasonOf(flags, "a stage is rejected for a reason", `fanfold reject ${printable(job, 64)} --reason "…"`)
      : "";
  await withSession(cli, async ({ engine }) => {
    const status = await engine.status(job);
    const stage = flags.stage ?? theOneThatWaits(status, verb);
    const reply =
      verb === "approve"
        ? await engine.operate.approve(status.job_id, { ...options, stage })
        : await engine.operate.reject(status.job_id, { ...options, stage, reason });
    answer(cli, reply, () => decisionLines(reply, verb, status));
  });
}

/** With several, a person must say which: approving another than the one looked at could not be taken back. */
function theOneThatWaits(status: JobRecord, verb: string): string {
  const id = shortId(status.job_id);
  const waiting = status.stages.filter((stage) => stage.status === "waiting_approval");
  if (waiting.length > 1) {
    const problems = waiting.map((stage) => ({
      path: stage.name,
      problem: stage.gate?.message ?? "waits for approval",
      fix: `fanfold ${verb} ${id} --stage ${stage.name}`,
    }));
    throw usage(`${waiting.length} stages of job ${id} wait for approval`, {
      problems,
      next: "say which with --stage",
    });
  }
  // The last stage that was decided: that is the word that was given, perhaps by the same person a moment ago.
  const stage = waiting[0] ?? status.stages.findLast(({ decision }) => decision !== null) ?? firstGate(status);
  if (stage) return stage.name;
  throw new NotAllowedNow(`no stage of job ${id} waits for approval`, { hint: `see its stages: fanfold status ${id}` });
}

function firstGate(status: JobRecord): StageRecord | undefined {
  return status.stages.find(({ gate }) => gate !== null);
}

function* decisionLines(reply: GateReply, verb: "approve" | "reject", status: JobRecord): Generator<string> {
  const id = shortId(reply.job_id);
  const what = `stage ${printable(reply.stage)} of job ${id}`;
  const question = status.stages.find(({ name }) => name === reply.stage)?.gate?.message;
  const word = verb === "approve" ? "approved" : "rejected";
  const { decision } = reply;
  if (reply.changed) {
    yield `${word}  ${what}${decision ? `, as ${printable(decision.by, 200)}` : ""}`;
    if (verb === "reject") yield `  what it means for the job: fanfold status ${id}`;
    else if (isPaused(status)) yield `  the job is paused; it goes on with: fanfold continue ${id}`;
    else yield `  follow it: fanfold watch ${id}`;
  } else if (decision) {
    yield `nothing changed: ${printable(decision.by, 200)} ${word} ${what} at ${moment(decision.at)}`;
  } else {
    yield `would ${verb} ${what}; nothing was changed`;
    if (question) yield `  it asks: ${printable(question)}`;
  }
}
