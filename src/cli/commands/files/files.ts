import { formatPlace } from "../../../core/places/zone_place.js";
import { type BlobEntry, formatZoneRef, type ZoneRef, zone_names } from "../../../core/places/zones.js";
import { printable } from "../../../core/values/printable.js";
import type { AssetRecord } from "../../../engine/verbs/assets.js";
import { checksum } from "../../../storage/blob_store.js";
import { answer, type Cli, type CliCommand } from "../../terminal/command.js";
import { CliFailure } from "../../terminal/failure.js";
import { bytes, count } from "../../terminal/figures.js";
import { noFile, refIn, zonesOf } from "../../terminal/files_refs.js";
import { note } from "../../terminal/io.js";
import { checked, wholeNumber } from "../../terminal/options.js";
import { withSession } from "../../terminal/session.js";
import { moment, table } from "../../terminal/summary.js";
import { addFilesProve } from "./prove_files.js";
import { addFilesSweep } from "./sweep_files.js";
import { addGet, addPut } from "./transfer.js";

export function addFiles(cli: Cli): void {
  const files = cli.program
    .command("files")
    .summary("list, put and get files of the zones")
    .description(
      "Files of a tenant in the zones bronze (what comes in), silver and gold (what jobs make), named as bronze:path/to/file.\n" +
        "Where the zones are: FANFOLD_ZONE_BRONZE, _SILVER and _GOLD; a folder, s3://bucket/prefix or az://account/container/prefix.",
    )
    .examples(
      "fanfold files put scenes/*.tif bronze:dem/",
      "fanfold files ls bronze:dem/",
      "fanfold files get silver:dem/tile-1/cog.tif",
    );
  addList(cli, files);
  addPut(cli, files);
  addGet(cli, files);
  addStat(cli, files);
  addRemove(cli, files);
  addFilesSweep(cli, files);
  addFilesProve(cli, files);
}

function addList(cli: Cli, files: CliCommand): void {
  files
    .command("ls", { isDefault: true })
    .summary("list files, or the zones")
    .description("Lists the files whose names begin so, in order; without a name, where the zones are.")
    .argument("[prefix]", "for example bronze:dem/")
    .option("--limit <number>", "how many at most (default 1000)")
    .option("--recorded", "only what jobs have made and others may see, with its type and its maker")
    .examples(
      "fanfold files ls",
      "fanfold files ls bronze:dem/ --limit 20",
      "fanfold files ls silver: --recorded --json",
    )
    .action((prefix: string | undefined, options: { limit?: string; recorded?: boolean }) => {
      const limit = checked(
        "the list cannot be made",
        (problems) => wholeNumber("--limit", options.limit, 1, 1_000_000, problems) ?? 1000,
      );
      if (prefix === undefined) return listZones(cli);
      const ref = refIn(prefix, false);
      return options.recorded ? listRecorded(cli, ref, limit) : listFiles(cli, ref, limit);
    });
}

function listZones(cli: Cli): void {
  const { zones, tenant } = zonesOf(cli);
  const found = zone_names.map((zone) => ({
    zone,
    kind: zones.place(zone).kind,
    place: formatPlace(zones.place(zone)),
  }));
  answer(cli, { zones: found }, () => [
    ...table(
      ["ZONE", "KIND", "PLACE"],
      found.map(({ zone, kind, place }) => [zone, kind, place]),
      cli.io.width(),
    ),
    `files of ${tenant} in one of them: fanfold files ls bronze:`,
  ]);
}

async function listFiles(cli: Cli, { zone, key: prefix }: ZoneRef, limit: number): Promise<void> {
  const { zones, tenant } = zonesOf(cli);
  const store = zones.store(zone, tenant);
  const entries: BlobEntry[] = [];
  let next: string | null = null;
  do {
    const page = await store.list(prefix, { limit: Math.min(1000, limit - entries.length), after: next ?? undefined });
    entries.push(...page.entries);
    next = page.next;
  } while (next !== null && entries.length < limit);
  const files = entries.map((one) => ({ ref: formatZoneRef({ zone, key: one.key }), ...one }));
  answer(cli, { files, more: next !== null }, () => {
    if (files.length === 0) return [`no file begins with ${printable(formatZoneRef({ zone, key: prefix }))}`];
    const rows = files.map((one) => [bytes(one.bytes), moment(one.modified_at), one.ref]);
    const sum = files.reduce((total, one) => total + one.bytes, 0);
    const more = next === null ? "" : "; there are more (--limit)";
    return [
      ...table(["SIZE", "MODIFIED", "FILE"], rows, cli.io.width()),
      `${count(files.length)} files, ${bytes(sum)}${more}`,
    ];
  });
}

async function listRecorded(cli: Cli, { zone, key: prefix }: ZoneRef, limit: number): Promise<void> {
  await withSession(cli, async ({ engine }) => {
    const assets: AssetRecord[] = [];
    let after: readonly [string, string] | null = null;
    do {
      const page = await engine.assets.list({ zone, prefix, after, limit: Math.min(1000, limit - assets.length) });
      assets.push(...page.assets);
      after = page.next;
    } while (after !== null && assets.length < limit);
    answer(cli, { files: assets, more: after !== null }, () => {
      if (assets.length === 0) return ["no job has made such a file"];
      const rows = assets.map((one) => [
        bytes(one.bytes),
        one.media_type.split(";")[0]!,
        one.task_id ?? "",
        formatZoneRef(one),
      ]);
      return table(["SIZE", "TYPE", "TASK", "FILE"], rows, cli.io.width());
    });
  });
}

function addStat(cli: Cli, files: CliCommand): void {
  files
    .command("stat")
    .summary("what is known of a file")
    .description("Size, time and etag of a file, and its record where a job has made it.")
    .argument("<file>", "for example silver:dem/tile-1/cog.tif")
    .option("--checksum", "read it and compute its SHA-256, and compare it with the record")
    .examples("fanfold files stat bronze:dem/scene.tif", "fanfold files stat silver:dem/cog.tif --checksum")
    .action((text: string, options: { checksum?: boolean }) => stat(cli, refIn(text), options.checksum === true));
}

async function stat(cli: Cli, ref: ZoneRef, with_checksum: boolean): Promise<void> {
  const { zones, tenant } = zonesOf(cli);
  const store = zones.store(ref.zone, tenant);
  const found = await store.stat(ref.key);
  if (found === null) throw noFile(ref);
  const record = await recordOf(cli, ref);
  const sha256 = with_checksum ? (await checksum(store, ref.key)).sha256 : undefined;
  const altered =
    record != null && (record.bytes !== found.bytes || (sha256 !== undefined && sha256 !== record.sha256));
  if (altered) cli.exit_code = 1;
  const document = { ref: formatZoneRef(ref), ...found, sha256, record, altered };
  answer(cli, document, function* () {
    yield `file      ${printable(document.ref)}`;
    yield `size      ${bytes(found.bytes)} (${count(found.bytes)} bytes)`;
    yield `modified  ${moment(found.modified_at)}`;
    if (sha256 !== undefined) yield `sha256    ${sha256}`;
    if (record === undefined) yield "record    not known: the embedded database is in use by another process";
    else if (record === null) yield "record    none: no job has made it";
    else {
      yield `type      ${printable(record.media_type)}`;
      yield `made by   ${record.adopted ? "another program; recorded by task" : "task"} ${record.task_id ?? "?"}${record.job_id === null ? "" : ` of job ${record.job_id}`}`;
      if (altered) yield "ALTERED   it is not what was recorded: run the job again that made it";
    }
  });
}

/** undefined: it cannot be known now. */
async function recordOf(cli: Cli, ref: ZoneRef): Promise<AssetRecord | null | undefined> {
  try {
    return await withSession(cli, ({ engine }) => engine.assets.find(ref));
  } catch (error) {
    if (error instanceof CliFailure && error.explanation.code === "folder_busy") return undefined;
    throw error;
  }
}

function addRemove(cli: Cli, files: CliCommand): void {
  files
    .command("rm")
    .summary("remove files")
    .description(
      "Removes files and their records. With --recursive all files whose names begin so: shown first, removed with --yes.\n" +
        "Items of a catalogue that name such a file are left without it: fanfold submit unpublish_raster removes both.",
    )
    .argument("<files...>", "for example bronze:dem/scene.tif")
    .option("--recursive", "all files whose names begin so")
    .option("--yes", "with --recursive: really")
    .examples("fanfold files rm bronze:dem/scene.tif", "fanfold files rm bronze:old/ --recursive --yes")
    .action(async (texts: string[], options: { recursive?: boolean; yes?: boolean }) => {
      const refs = texts.map((text) => refIn(text, true));
      const all = options.recursive ? await below(cli, refs) : await there(cli, refs);
      if (options.recursive && !options.yes) return tell(cli, all, "would be removed; with --yes they are", false);
      await withSession(cli, async ({ engine }) => {
        const stores = engine.zones;
        for (const ref of all) {
          // First it disappears from view, then it goes: an interrupted command leaves nothing that looks whole.
          await engine.assets.retract(ref);
          await stores.store(ref.zone, engine.tenant).remove(ref.key);
          await engine.assets.removeRetracted([ref]);
        }
      });
      return tell(cli, all, "removed", true);
    });
}

async function there(cli: Cli, refs: readonly ZoneRef[]): Promise<ZoneRef[]> {
  const { zones, tenant } = zonesOf(cli);
  for (const ref of refs) if ((await zones.store(ref.zone, tenant).stat(ref.key)) === null) throw noFile(ref);
  return [...refs];
}

async function below(cli: Cli, prefixes: readonly ZoneRef[]): Promise<ZoneRef[]> {
  const { zones, tenant } = zonesOf(cli);
  const found: ZoneRef[] = [];
  for (const { zone, key: prefix } of prefixes) {
    const store = zones.store(zone, tenant);
    for (let after: string | undefined; ; ) {
      const page = await store.list(prefix, { after });
      found.push(...page.entries.map(({ key }) => ({ zone, key })));
      if (page.next === null) break;
      after = page.next;
    }
  }
  return found;
}

function tell(cli: Cli, refs: readonly ZoneRef[], what: string, removed: boolean): void {
  const files = refs.map(formatZoneRef);
  if (!removed && files.length > 20) note(cli.io, `the first 20 of ${count(files.length)}:`);
  answer(cli, { files, removed }, () => [
    ...(removed ? [] : files.slice(0, 20).map((one) => `  ${printable(one)}`)),
    `${count(files.length)} ${files.length === 1 ? "file" : "files"} ${what}`,
  ]);
}
