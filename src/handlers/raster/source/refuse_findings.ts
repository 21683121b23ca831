// A source that cannot be used, refused with everything that is wrong with it: which code, what, and what to do.
import { Permanent } from "../../../core/errors/errors.js";
import type { Finding } from "../../../geo/raster.js";

/** An error's message has its limits; the first findings are the gravest. */
const most_told = 20;

/** Throws when there is an error among them; when `strict`, a warning is one. */
export function refuseFindings(source: string, findings: readonly Finding[], strict: boolean): void {
  const grave = findings.filter(({ severity }) => severity === "error" || (strict && severity === "warning"));
  if (grave.length === 0) return;
  const told = grave.slice(0, most_told).map(({ code, message, hint }) => `${code}: ${message} ${hint}`);
  const more = grave.length > most_told ? [`and ${grave.length - most_told} more`] : [];
  const count = grave.length === 1 ? "" : ` (${grave.length} findings)`;
  // One code tells failures apart in groups; several are the kind of failure that each file has of its own.
  const codes = new Set(grave.map(({ code }) => code));
  throw new Permanent(`${source} cannot be used${count}: ${[...told, ...more].join(" · ")}`, {
    code: codes.size === 1 ? grave[0]!.code : "raster_refused",
  });
}
