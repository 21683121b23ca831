// fanfold limits: what a tenant may use at most, and what it uses now.

import { type Problem, suggestion } from "../../core/errors/problems.js";
import { type LimitsRecord, type LimitValues, limit_names } from "../../engine/verbs/limits.js";
import { answer, type Cli } from "../terminal/command.js";
import { usage } from "../terminal/failure.js";
import { count } from "../terminal/figures.js";
import { withSession } from "../terminal/session.js";
import { table } from "../terminal/summary.js";

export function addLimits(cli: Cli): void {
  cli.program
    .command("limits")
    .summary("show and set what a tenant may use at most")
    .description(
      "Shows what a tenant may use at most and what it uses now; with `set`, changes what is named and leaves the rest.\n" +
        `There are: ${limit_names.join(", ")}.`,
    )
    .argument("[tenant]", "the tenant's id (default: --tenant, FANFOLD_TENANT or default)")
    .argument("[set...]", "set name=value …, where none lifts a limit")
    .examples(
      "fanfold limits acme",
      "fanfold limits acme set queued_tasks=100000 submits_per_s=50",
      "fanfold limits acme set fan_out=none",
    )
    .action((tenant: string | undefined, words: string[]) => limits(cli, tenant, words));
}

async function limits(cli: Cli, tenant: string | undefined, words: readonly string[]): Promise<void> {
  const [verb, ...pairs] = words;
  if (tenant === "set" || (verb !== undefined && (verb !== "set" || pairs.length === 0))) {
    throw usage("limits are set as: fanfold limits <tenant> set name=value", { next: "fanfold limits --help" });
  }
  const changes = changesIn(pairs);
  await withSession(cli, async ({ engine }) => {
    const theirs = (tenant === undefined ? engine : engine.forTenant(tenant)).limits;
    if (verb === "set") await theirs.change(changes, cli.io.user());
    const record = await theirs.get();
    answer(cli, record, () => limitLines(record, cli.io.width()));
  });
}

function changesIn(pairs: readonly string[]): Partial<LimitValues> {
  const problems: Problem[] = [];
  const changes: Partial<LimitValues> = {};
  for (const pair of pairs) {
    const [name = "", text = "", ...rest] = pair.split("=");
    const known = limit_names.find((one) => one === name);
    const value = text === "none" ? null : Number(text);
    if (known === undefined) {
      problems.push({ path: name, problem: "there is no such limit", fix: suggestion(name, limit_names) });
    } else if (rest.length > 0 || text.trim() === "" || Number.isNaN(value)) {
      problems.push({ path: name, problem: `"${text}" is not a number`, fix: `${name}=1000, or ${name}=none` });
    } else changes[known] = value;
  }
  if (problems.length > 0) throw usage("these limits cannot be set", { problems });
  return changes;
}

function* limitLines({ tenant_id, limits, usage }: LimitsRecord, width: number): Generator<string> {
  const used: Partial<Record<string, number | null>> = {
    concurrent_tasks: usage.concurrent_tasks,
    queued_tasks: usage.queued_tasks,
  };
  const left = usage.submits_left;
  const rows = limit_names.map((name) => {
    const [value, now] = [limits[name], used[name]];
    const present = name === "submits_per_s" && left !== null ? `${count(left)} left` : now == null ? "" : count(now);
    return [name, value === null ? "none" : count(value), present];
  });
  yield* table([`LIMIT OF ${tenant_id}`, "AT MOST", "NOW"], rows, width);
}
