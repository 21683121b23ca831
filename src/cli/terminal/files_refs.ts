// How files of zones are named on the command line, and where the zones of this configuration are.
import { formatZoneRef, parseZoneRef, type ZoneRef, zone_names } from "../../core/places/zones.js";
import { Zones } from "../../storage/zones.js";
import type { Cli } from "./command.js";
import { type CliFailure, usage } from "./failure.js";
import { configOf } from "./session.js";

/** No database is needed to look at files: it may be in use by another process. */
export function zonesOf(cli: Cli): { zones: Zones; tenant: string } {
  const { zones, tenant } = configOf(cli);
  return { zones: new Zones(zones), tenant };
}

/** `whole`: it must name a file, not only the beginning of names. */
export function refIn(text: string, whole = true): ZoneRef {
  const ref = parseZoneRef(text);
  if (ref !== null && (!whole || ref.key !== "")) return ref;
  throw usage(`"${text}" does not name a file of a zone`, { next: `for example ${zone_names[0]}:dem/scene.tif` });
}

export function noFile(ref: ZoneRef): CliFailure {
  const folder = ref.key.includes("/") ? `${ref.key.slice(0, ref.key.lastIndexOf("/") + 1)}` : "";
  return usage(`there is no file ${formatZoneRef(ref)}`, { next: `fanfold files ls ${ref.zone}:${folder}` });
}
