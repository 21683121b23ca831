// What a handler may say it delivered, checked where it says so: a mistake is the handler's and is told there. Pure.

import { ContractViolation } from "../errors/errors.js";
import { kindOf, type Problem } from "../errors/problems.js";
import { jsonProblems, result_limits } from "../values/json_values.js";
import type { Deliverable } from "./context.js";

export const max_deliverables = 100;

/** The deliverable as it is stored. Throws ContractViolation with every problem. */
export function checkedDeliverable(what: unknown): Deliverable {
  const given = (typeof what === "object" && what !== null ? what : {}) as Record<string, unknown>;
  const { name, count, location, usable } = given;
  const problems: Problem[] = [];
  const add = (path: string, problem: string, fix: string) => problems.push({ path: `$.${path}`, problem, fix });
  if (typeof name !== "string" || name.length < 1 || name.length > 100) {
    add("name", `must be text of 1 to 100 characters, not ${kindOf(name)}`, 'Write e.g. "cogs".');
  }
  if (count !== undefined && (!Number.isSafeInteger(count) || (count as number) < 0)) {
    add("count", "must be a whole number from 0", "Leave it out for 1.");
  }
  if (location !== undefined && (typeof location !== "string" || location.length > 2000)) {
    add("location", "must be text of at most 2000 characters", "Give a prefix rather than a list.");
  }
  if (usable !== undefined && typeof usable !== "boolean")
    add("usable", "must be true or false", "Leave it out: true.");
  if (problems.length === 0) problems.push(...jsonProblems({ name, location: location ?? "" }, result_limits));
  if (problems.length > 0) {
    throw new ContractViolation("ctx.deliver was given what cannot be a deliverable", {
      problems,
    });
  }
  return { name, count, location, usable } as Deliverable;
}
