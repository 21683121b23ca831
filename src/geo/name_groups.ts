// Names of files put into groups by a pattern: all fields but one are the group, the one is the band. Pure.
import { BadRequest } from "../core/errors/errors.js";
import { type Problem, quoted } from "../core/errors/problems.js";
import { compileNamePattern } from "./name_pattern.js";
import { stacIds } from "./stac_ids.js";

export interface NameGroup {
  /** Safe as an id, unique among the groups. */
  key: string;
  fields: Record<string, string>;
  /** In the order of bands. */
  members: { name: string; band: string }[];
  /** Bands that other groups have. */
  missing: string[];
  /** Names left out because another of the group has the same band. */
  duplicates: string[];
}

export interface NameGroups {
  groups: NameGroup[];
  /** All bands, in order. */
  bands: string[];
  unmatched: string[];
}

export interface GroupOptions {
  pattern: string;
  /** The field that names the band. */
  band_field: string;
  /** Fields that make the group; default: all others. */
  group_fields?: string[];
  /** Default: by number where there is one (1in5 before 1in10), else by letter. Bands not named here are left out. */
  band_order?: string[];
}

export function groupNames(names: Iterable<string>, options: GroupOptions): NameGroups {
  const pattern = compileNamePattern(options.pattern);
  const group_fields = options.group_fields ?? pattern.fields.filter((field) => field !== options.band_field);
  refuseUnknown(pattern.fields, options, group_fields);
  const wanted = options.band_order ? new Set(options.band_order) : null;
  const found = new Map<string, { fields: Record<string, string>; names: Map<string, string[]> }>();
  const unmatched: string[] = [];
  for (const name of names) {
    const values = pattern.match(name);
    const band = values?.[options.band_field];
    if (!values || band === undefined || (wanted && !wanted.has(band))) {
      unmatched.push(name);
      continue;
    }
    const fields = Object.fromEntries(group_fields.map((field) => [field, values[field]!]));
    const key = JSON.stringify(fields);
    const group = found.get(key) ?? { fields, names: new Map() };
    found.set(key, group);
    const others = group.names.get(band);
    if (others) others.push(name);
    else group.names.set(band, [name]);
  }
  const all = new Set([...found.values()].flatMap((group) => [...group.names.keys()]));
  const bands = options.band_order?.filter((band) => all.has(band)) ?? [...all].sort(naturally);
  const sorted = [...found.values()].sort((a, b) => naturally(label(a.fields), label(b.fields)));
  const keys = stacIds(sorted.map(({ fields }) => label(fields) || "all"));
  const groups = sorted.map(({ fields, names: by_band }, i): NameGroup => {
    const present = bands.filter((band) => by_band.has(band));
    // The first by name, so that the same files always give the same raster.
    const chosen = present.map((band) => ({ band, names: by_band.get(band)!.toSorted() }));
    return {
      key: keys[i]!,
      fields,
      members: chosen.map(({ band, names: [name] }) => ({ band, name: name! })),
      missing: bands.filter((band) => !by_band.has(band)),
      duplicates: chosen.flatMap(({ names: [, ...others] }) => others),
    };
  });
  return { groups, bands, unmatched };
}

function label(fields: Record<string, string>): string {
  return Object.values(fields).join("_");
}

/** Numbers within a text count as numbers. */
export function naturally(a: string, b: string): number {
  const [left, right] = [parts(a), parts(b)];
  for (let i = 0; i < Math.min(left.length, right.length); i++) {
    const [x, y] = [left[i]!, right[i]!];
    const by_number = /^\d/.test(x) && /^\d/.test(y) ? Number(x) - Number(y) : 0;
    if (by_number !== 0) return by_number;
    if (x !== y) return x < y ? -1 : 1;
  }
  return left.length - right.length;
}

function parts(text: string): string[] {
  return text.match(/\d+|\D+/g) ?? [];
}

function refuseUnknown(fields: readonly string[], options: GroupOptions, group_fields: readonly string[]): void {
  const problems: Problem[] = [];
  const known = `use one of ${fields.join(", ")}`;
  const unknown = (path: string, field: string) => {
    if (!fields.includes(field))
      problems.push({ path, problem: `the pattern has no field ${quoted(field)}`, fix: known });
  };
  unknown("$.band_field", options.band_field);
  group_fields.forEach((field, i) => {
    unknown(`$.group_fields[${i}]`, field);
    if (field === options.band_field) {
      problems.push({ path: `$.group_fields[${i}]`, problem: "names the band", fix: "leave it out of the group" });
    }
  });
  const order = options.band_order ?? [];
  const twin = order.find((band, i) => order.indexOf(band) !== i);
  if (twin !== undefined) {
    problems.push({ path: "$.band_order", problem: `${quoted(twin)} stands there twice`, fix: "name each band once" });
  }
  if (problems.length > 0) {
    throw new BadRequest("The files cannot be grouped so", { problems });
  }
}
