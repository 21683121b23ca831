// A VRT of a tenant's: what it names are files of the tenant's own zones, each fetched and checked as any source is, and GDAL is given a
// text of ours over the copies. A path or an address in it is never followed.
import { createHash, randomUUID } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import { basename, dirname, join, posix } from "node:path";
import { Permanent } from "../../../core/errors/errors.js";
import { quoted } from "../../../core/errors/problems.js";
import { formatZoneRef, parseZoneRef, type ZoneRef } from "../../../core/places/zones.js";
import type { TaskContext } from "../../../core/task/context.js";
import { max_vrt_bytes, readVrt, type VrtSource, writeVrt } from "../../../geo/formats/vrt_text.js";
import type { RasterEngine } from "../gdal/engine.js";
import { refuseFindings } from "../source/refuse_findings.js";
import { openSource, type SourceLimits, tooLarge } from "../source/source.js";
import type { FormatSource } from "./format_engine.js";

const most_files = 1000;

export async function rewrittenVrt(
  ctx: TaskContext,
  source: string,
  path: string,
  engine: Pick<RasterEngine, "codecs">,
  limits: SourceLimits & { max_bytes: number },
): Promise<{ file: FormatSource; bytes: number; sha256: string }> {
  const text = await readFile(path);
  if (text.length > max_vrt_bytes) throw tooLarge(text.length, max_vrt_bytes);
  const vrt = readVrt(text.toString("utf8"));
  const hash = createHash("sha256").update(text);
  const fetched = new Map<string, string>();
  let bytes = text.length;
  for (const band of vrt.bands) {
    for (const one of band.sources) {
      const named = formatZoneRef(refOf(one, source));
      let local = fetched.get(named);
      if (local === undefined) {
        if (fetched.size >= most_files) throw refused(`it names more than ${most_files} files`);
        const { file, findings } = await openSource(ctx, named, engine, {
          ...limits,
          max_bytes: limits.max_bytes - bytes,
        });
        if (file === null) refuseFindings(`${named}, which the VRT names,`, findings, false);
        bytes += file!.bytes;
        hash.update(`${named}\0${file!.sha256}\n`);
        local = basename(file!.path);
        fetched.set(named, local);
      }
      one.name = local;
      one.is_relative = true;
    }
  }
  const own = join(dirname(path), `${randomUUID()}.vrt`);
  await writeFile(own, writeVrt(vrt), { flag: "wx" });
  return { file: { path: own, driver: "VRT", part: null }, bytes, sha256: hash.digest("hex") };
}

/** Below the folder of the VRT, in its zone; or zone:key. */
export function refOf({ name, is_relative }: VrtSource, source: string): ZoneRef {
  const own = parseZoneRef(source);
  const named = parseZoneRef(name);
  if (named !== null && !is_relative) return named;
  const key = own === null || !is_relative ? "" : posix.normalize(posix.join(posix.dirname(own.key), name));
  const is_below = key !== "" && !name.startsWith("/") && !/^\.\.?(\/|$)/.test(key) && !/[:\\\0<>?&|]/.test(name);
  if (!is_below) throw refused(`it names ${quoted(name.slice(0, 200))}`);
  return { zone: own!.zone, key };
}

function refused(what: string): Permanent {
  return new Permanent(
    `the VRT cannot be used: ${what}. It may name files of your own zones only, by relativeToVRT="1" below its zone or as zone:key`,
    { code: "names_other_files" },
  );
}
