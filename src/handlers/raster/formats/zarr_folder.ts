// A Zarr store is a folder of small files: fetched whole into the scratch folder, each under its own name, none of which leads out of it.
import { createHash } from "node:crypto";
import { mkdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { Permanent } from "../../../core/errors/errors.js";
import { formatZoneRef, parseZoneRef, type ZoneRef } from "../../../core/places/zones.js";
import type { TaskContext } from "../../../core/task/context.js";
import { tooLarge } from "../source/source.js";

const most_files = 50_000;
const part_rule = /^[\w.,+ -]{1,200}$/;

/** The folder a source names; null: it does not name a Zarr store. */
export function zarrOf(source: string): ZoneRef | null {
  const ref = parseZoneRef(source);
  return ref !== null && /\.zarr$/i.test(ref.key) ? ref : null;
}

export async function fetchZarr(ctx: TaskContext, { zone, key }: ZoneRef, folder: string, max_bytes: number) {
  const hash = createHash("sha256");
  let [bytes, files, thirds] = [0, 0, 0];
  let after: string | undefined;
  do {
    const page = await ctx.zones.list(zone, `${key}/`, { after });
    for (const entry of page.entries) {
      ctx.signal.throwIfAborted();
      const name = entry.key.slice(key.length + 1);
      const parts = name.split("/");
      if (name === "" || name.endsWith("/")) continue;
      if (parts.some((part) => !part_rule.test(part) || part === "." || part === "..")) {
        throw new Permanent(`the Zarr store has a file of an odd name: ${JSON.stringify(name.slice(0, 100))}`, {
          code: "bad_file_name",
        });
      }
      bytes += entry.bytes;
      if (parts.at(-1) === "zarr.json") thirds++;
      if (bytes > max_bytes) throw tooLarge(bytes, max_bytes);
      if (++files > most_files) {
        throw new Permanent(
          `the Zarr store has more than ${most_files} files: write it with larger chunks, or give a part of it`,
          {
            code: "too_many_sources",
          },
        );
      }
      const path = join(folder, ...parts);
      await mkdir(dirname(path), { recursive: true });
      const got = await ctx.zones.download({ zone, key: entry.key }, path, { max_bytes: entry.bytes + 1 });
      hash.update(`${name}\0${got.sha256}\n`);
    }
    after = page.next ?? undefined;
  } while (after !== undefined);
  if (files === 0)
    throw new Permanent(`there is nothing below ${formatZoneRef({ zone, key })}/`, { code: "source_missing" });
  return { bytes, sha256: hash.digest("hex"), is_third: thirds > 0 };
}
