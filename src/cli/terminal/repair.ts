// How a repair reads (resume, retry): what runs again and what is kept, stage by stage; and following it to its end.
import type { Problem } from "../../core/errors/problems.js";
import type { RepairReply } from "../../engine/verbs/operator.js";
import { answer, type Cli, globals } from "./command.js";
import { usage } from "./failure.js";
import { count, tasks } from "./figures.js";
import { note } from "./io.js";
import type { Session } from "./session.js";
import { howToFollow, table } from "./summary.js";
import type { VerbFlags } from "./verb.js";
import { timeoutOf, type WaitFlags, waitForEnd } from "./wait.js";

export type RepairFlags = VerbFlags & WaitFlags;

/** What is wrong with the flags is told before the database is opened. */
export function repairTimeout(what: string, flags: RepairFlags): number | undefined {
  const problems: Problem[] = [];
  const timeout_s = timeoutOf(flags, problems);
  if (flags.wait && flags.dryRun) {
    problems.push({ path: "--wait", problem: "has nothing to wait for with --dry-run", fix: "leave one of them out" });
  }
  if (problems.length > 0) throw usage(what, { problems });
  return timeout_s;
}

export async function sayRepair(
  cli: Cli,
  session: Session,
  reply: RepairReply,
  verb: { done: string; would: string },
  { wait, timeout_s }: { wait: boolean; timeout_s: number | undefined },
): Promise<void> {
  const lines = () => repairLines(reply, verb, cli.io.width());
  if (!wait) {
    const next = reply.changed ? howToFollow(session.engine.db.kind, reply.status, reply.job_id) : [];
    return answer(cli, reply, () => [...lines(), ...next]);
  }
  if (!globals(cli).json) for (const text of lines()) note(cli.io, text);
  cli.exit_code = await waitForEnd(cli, session, reply.job_id, { timeout_s, reply });
}

function* repairLines(reply: RepairReply, verb: { done: string; would: string }, width: number): Generator<string> {
  const epoch = reply.dry_run ? reply.epoch + 1 : reply.epoch;
  yield `${reply.dry_run ? verb.would : verb.done}  ${reply.job_id}`;
  yield `  ${reply.dry_run ? "it would be " : ""}epoch ${epoch}, from stage ${reply.from_stage}: ${reply.at_least ? "at least " : ""}${tasks(reply.again)} again, ${count(reply.kept)} kept`;
  const rows = reply.stages.map(({ number, stage, again, at_most, kept, follows }) => [
    `  ${number}`,
    stage,
    count(again),
    count(at_most),
    count(kept),
    follows ? (at_most === 0 ? "only if its input changes" : "follows") : at_most + kept === 0 ? "not begun" : "",
  ]);
  yield* table(["  NO", "STAGE", "AGAIN", "AT MOST", "KEPT", ""], rows, width);
  if (reply.dry_run) yield "  nothing was changed";
}
