// What the operator's verbs share: who asks and why, and looking before acting.
import type { VerbOptions } from "../../engine/verbs/operator.js";
import type { Cli } from "./command.js";
import { usage } from "./failure.js";

export interface VerbFlags {
  reason?: string;
  dryRun?: boolean;
  by?: string;
}

export function verbOptions(cli: Cli, { reason, dryRun, by }: VerbFlags): Required<VerbOptions> {
  if (by !== undefined && by.trim() === "") {
    throw usage("--by is empty", { next: "give a name, or leave --by out" });
  }
  return { reason: reason ?? null, dry_run: dryRun ?? false, actor: by ?? cli.io.user() };
}

/** Skipping and rejecting end something: a person who reads of it later must find out why. */
export function reasonOf({ reason }: VerbFlags, what: string, next: string): string {
  if (reason === undefined || reason.trim() === "") throw usage(what, { next });
  return reason;
}

/** Refuses unless exactly one of several ways to name a target is given. */
export function exactlyOne(verb: string, given: Readonly<Record<string, string | undefined>>, next: string): void {
  const named = Object.values(given).filter((value) => value !== undefined);
  if (named.length !== 1) throw usage(`${verb} takes exactly one of ${Object.keys(given).join(", ")}`, { next });
}
