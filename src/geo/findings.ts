// Every remark that a check of a raster can make: its code, how bad it is, when it is made and what to do. The table in
// docs/raster_checks.md is made from this one. Codes are part of the interface: others count on them. Pure.
import { file_findings } from "./file_findings.js";
import { pixel_findings } from "./pixel_findings.js";
import type { Finding } from "./raster.js";

export interface FindingFacts {
  group: "file" | "structure" | "size" | "georeference" | "pixels" | "statistics" | "collection";
  severity: Finding["severity"];
  when: string;
  hint: string;
}

export const finding_table = { ...file_findings, ...pixel_findings };

export type FindingCode = keyof typeof finding_table;

/** `message` says what is wrong in this very raster; the hint comes from the table unless there is a better one. */
export function finding(code: FindingCode, message: string, hint?: string): Finding {
  const facts: FindingFacts = finding_table[code];
  return { code, severity: facts.severity, message, hint: hint ?? facts.hint };
}

export function hasErrors(findings: readonly Finding[]): boolean {
  return findings.some(({ severity }) => severity === "error");
}
