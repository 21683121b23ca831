// How the service, its janitor and its checks are told in words. Pure.

import type { Action as NextAction } from "../../../../src/core/shown/action.js";
import type { Reply } from "../../api/call.js";

export type Health = Reply<"health.health">;
export type CheckResult = Reply<"health.preflight">["findings"][number];
export type Janitor = Reply<"vitals.janitor">;
export type Action = Janitor["actions"][number];

/** `fix`: what to do, in words or as one command. */
export interface Trouble {
  what: string;
  fix: string | NextAction;
}

/** What is not as it should be; none when all is well. */
export function troubles({ database, schema, janitor, workers }: Health): Trouble[] {
  if (!database.reachable)
    return [
      {
        what: "The database did not answer within two seconds.",
        fix: "Is it running, and does this server reach it? Its log tells more.",
      },
    ];
  const found: Trouble[] = [];
  if (schema.current === false)
    found.push({
      what: "The database's schema is not the one this version was written for.",
      fix: { verb: "migrate" },
    });
  if (workers.live === 0) found.push({ what: "No worker is live: what is submitted waits.", fix: { verb: "up" } });
  if (janitor.late === true)
    found.push({
      what: "No process looks after dead workers, deadlines and stuck states.",
      fix: "Every worker and every server does so: start one, or see why their rounds fail below.",
    });
  return found;
}

const order = { fail: 0, warn: 1, ok: 2 } as const;

export function worstFirst(findings: readonly CheckResult[]): CheckResult[] {
  return [...findings].sort((a, b) => order[a.level] - order[b.level]);
}

const tasks = (n: unknown) =>
  typeof n === "number" ? (n === 1 ? "1 task" : `${n.toLocaleString("en-US")} tasks`) : "tasks";

/** One action of the janitor as a sentence without its end. Actions of a later version are told by their name. */
export function actionText({ action, target, data }: Pick<Action, "action" | "target" | "data">): string {
  const who = target ?? "something";
  const stage = typeof data.stage === "string" ? ` of stage ${data.stage}` : "";
  switch (action) {
    case "took_back":
      return `Took ${tasks(data.tasks)}${stage} back from ${who}`;
    case "timed_out":
      return `Ended ${who}, which was past its time-out`;
    case "mended":
      return `Put ${who} right`;
    case "removed":
      return `Removed what was left of ${who}`;
    case "expired":
      return `Failed ${who}, which was past its deadline`;
    case "unparked":
      return `Let ${who} run that no worker would have taken`;
    case "requeued_delivery":
      return `Queued ${who} again`;
    case "failed_delivery":
      return `Gave ${who} up`;
    default:
      return `${capital(action.replaceAll("_", " "))}: ${who}`;
  }
}

function capital(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1);
}

/** alert.some_thing → Some thing. */
export function alertText(alert: string): string {
  return capital(alert.replaceAll("_", " "));
}
