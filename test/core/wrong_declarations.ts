// Declarations as JavaScript writes them, without the types that would forbid the mistake, and what the registry says.
import { z } from "zod";
import { defineHandler, defineJob } from "../../src/core/declare/declare.js";
import { createRegistry } from "../../src/core/declare/registry.js";
import { DeclarationError } from "../../src/core/errors/errors.js";

export const work = defineHandler("work", {}, () => null);

// biome-ignore lint/suspicious/noExplicitAny: the mistakes are what is tested
export type Anything = any;

export function problemsOf(parts: Anything) {
  try {
    createRegistry(parts);
  } catch (error) {
    if (error instanceof DeclarationError)
      return error.problems.map(({ path, problem, fix }) => `${path}: ${problem} → ${fix}`);
    throw error;
  }
  return [];
}

export const problemsOfJob = (job: Anything) => problemsOf({ jobs: [defineJob(job)], handlers: [work] });
export const problemsOfStages = (...stages: Anything[]) => {
  const named = stages.map((stage, position) => ({ name: `s${position + 1}`, task: "work", ...stage }));
  return problemsOfJob({ type: "j", parameters: z.object({ n: z.int(), tiles: z.array(z.int()) }), stages: named });
};
export const problemsOfTasks = (tasks: Anything) => problemsOfStages({ tasks });
