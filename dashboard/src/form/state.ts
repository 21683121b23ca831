// What the fields of one form share: the whole value, what is wrong with it by place, and how to change it.
import { createContext, useContext } from "react";
import { jsonPath, type Problem } from "../../../src/core/errors/problems.js";
import type { Schema } from "./schema.js";
import type { Path, Value } from "./values.js";

export interface FormState {
  /** The whole schema: references lead into it. */
  root: Schema;
  problems: ReadonlyMap<string, readonly Problem[]>;
  set(path: Path, value: Value): void;
  /** What is missing is told only once somebody was there, or has asked. */
  touch(path: Path): void;
}

export const FormContext = createContext<FormState | null>(null);

export function useForm(): FormState {
  const form = useContext(FormContext);
  if (form === null) throw new Error("a field stands in no form");
  return form;
}

export function problemText(problems: readonly Problem[] | undefined): string | null {
  if (problems === undefined || problems.length === 0) return null;
  return problems.map(({ problem, fix }) => (fix === "" ? problem : `${problem}. ${fix}`)).join(" · ");
}

/** What is wrong at this very place. */
export function useProblem(path: Path): string | null {
  return problemText(useForm().problems.get(jsonPath(path)));
}

export function byPath(problems: readonly Problem[]): Map<string, Problem[]> {
  const found = new Map<string, Problem[]>();
  for (const problem of problems) found.set(problem.path, [...(found.get(problem.path) ?? []), problem]);
  return found;
}
