// Finds a handler among what a module exports: by itself, or in the `handlers` of a default export, as an app gives them.
import type { Handler } from "../../core/declare/declare.js";
import { readProperty } from "../../core/errors/failures.js";

export function findExported(exports: Readonly<Record<string, unknown>>, name: string): Handler | null {
  const listed = readProperty(exports.default, "handlers");
  const candidates = [...Object.values(exports), ...(Array.isArray(listed) ? (listed as unknown[]) : [])];
  const found = candidates.find((one) => readProperty(one, "kind") === "handler" && readProperty(one, "name") === name);
  return (found as Handler | undefined) ?? null;
}
