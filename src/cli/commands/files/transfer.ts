// fanfold files put and get: between this machine and a zone, with a bar while it takes long.
import { openAsBlob } from "node:fs";
import { link, stat as lookAt, open, readdir, rename, rm } from "node:fs/promises";
import path from "node:path";
import type { Problem } from "../../../core/errors/problems.js";
import { formatZoneRef, type ZoneRef } from "../../../core/places/zones.js";
import { printable } from "../../../core/values/printable.js";
import { Measured, piecesOfFile } from "../../../storage/blob_store.js";
import { readableProblem } from "../../../storage/keys.js";
import { Bar } from "../../terminal/bar.js";
import { answer, type Cli, type CliCommand } from "../../terminal/command.js";
import { usage } from "../../terminal/failure.js";
import { bytes, count } from "../../terminal/figures.js";
import { noFile, refIn, zonesOf } from "../../terminal/files_refs.js";
import { configOf } from "../../terminal/session.js";

export function addPut(cli: Cli, files: CliCommand): void {
  files
    .command("put")
    .summary("copy files from here into a zone")
    .description(
      "Copies files, or folders with all that is in them, into a zone. A target that ends with / is a folder. A file is there\n" +
        "whole or not at all; one that is there already stays, unless --force is given. Over HTTP (--url) the same command goes on\n" +
        "where it was broken off.",
    )
    .argument("<files...>", "files and folders of this machine, and last where to: bronze:dem/")
    .option("--force", "also over files that are there already")
    .option("--url <address>", "over HTTP, to the service there, with the key in FANFOLD_KEY: into bronze only")
    .examples(
      "fanfold files put scene.tif bronze:dem/scene.tif",
      "fanfold files put scenes/ bronze:dem/",
      "FANFOLD_KEY=ff_… fanfold files put scene.tif bronze:dem/ --url https://maps.example.org",
    )
    .action((files: string[], options: { force?: boolean; url?: string }) => {
      const target = files.at(-1) ?? "";
      if (files.length < 2)
        throw usage("it takes a file and where to put it", { next: "fanfold files put scene.tif bronze:" });
      const to = refIn(target, false);
      if (options.url !== undefined) return upload(cli, files.slice(0, -1), to, options.url, options.force === true);
      return put(cli, files.slice(0, -1), to, options.force === true);
    });
}

interface Copy {
  file: string;
  ref: ZoneRef;
  bytes: number;
}

async function put(cli: Cli, sources: readonly string[], target: ZoneRef, force: boolean): Promise<void> {
  const { zones, tenant } = zonesOf(cli);
  const store = zones.store(target.zone, tenant);
  const problems: Problem[] = [];
  const copies = await planned(cli, sources, target, problems);
  for (const { ref, file } of copies) {
    const problem = readableProblem(ref.key);
    if (problem !== null)
      problems.push({ path: file, problem: `cannot be ${formatZoneRef(ref)}: ${problem}`, fix: "rename it" });
    else if (!force && (await store.stat(ref.key)) !== null) {
      problems.push({ path: formatZoneRef(ref), problem: "is there already", fix: "--force writes over it" });
    }
    if (problems.length >= 20) break;
  }
  if (problems.length > 0) throw usage("nothing was copied", { problems });
  const bar = new Bar(cli, copies.length, sumOf(copies));
  const done: Copied[] = [];
  for (const { file, ref, bytes: known } of copies) {
    bar.begin(file);
    const source = bar.counted(piecesOfFile(file));
    const { bytes: size, sha256 } = await store.write(ref.key, source, { media_type: mediaType(file), bytes: known });
    done.push({ file, ref: formatZoneRef(ref), bytes: size, sha256 });
  }
  bar.end();
  tellCopied(cli, done);
}

/** To a service that is elsewhere: the parts of each file go to where that says. */
async function upload(
  cli: Cli,
  sources: readonly string[],
  target: ZoneRef,
  url: string,
  force: boolean,
): Promise<void> {
  const { api_key } = configOf(cli);
  const problems: Problem[] = [];
  if (api_key === undefined)
    problems.push({ path: "FANFOLD_KEY", problem: "is not set", fix: "a key with the scopes submit and read" });
  if (target.zone !== "bronze") {
    problems.push({
      path: formatZoneRef(target),
      problem: "is not in bronze, where files come in over HTTP",
      fix: "bronze:dem/",
    });
  }
  const copies = await planned(cli, sources, target, problems);
  for (const { ref, file } of copies) {
    const problem = readableProblem(ref.key);
    if (problem !== null)
      problems.push({ path: file, problem: `cannot be ${formatZoneRef(ref)}: ${problem}`, fix: "rename it" });
  }
  if (problems.length > 0) throw usage("nothing was sent", { problems: problems.slice(0, 20) });
  const { createClient } = await import("../../../client/index.js");
  const client = createClient({ url, key: api_key as string });
  const bar = new Bar(cli, copies.length, sumOf(copies));
  const done: Copied[] = [];
  for (const { file, ref } of copies) {
    bar.begin(file);
    const sha256 = await sha256Of(file);
    const options = { key: ref.key, media_type: mediaType(file), sha256, overwrite: force };
    const sent = await client.upload(await openAsBlob(file), { ...options, onProgress: (so_far) => bar.at(so_far) });
    bar.next();
    done.push({ file, ref: sent.ref, bytes: sent.bytes, sha256 });
  }
  bar.end();
  tellCopied(cli, done);
}

async function sha256Of(file: string): Promise<string> {
  const source = new Measured(piecesOfFile(file));
  for await (const _ of source);
  return source.sha256;
}

interface Copied {
  file: string;
  ref: string;
  bytes: number;
  sha256: string;
}

function tellCopied(cli: Cli, done: readonly Copied[]): void {
  answer(cli, { files: done }, () => [
    ...done.slice(0, 20).map((one) => `${printable(one.file)} → ${printable(one.ref)}  ${bytes(one.bytes)}`),
    ...(done.length > 20 ? [`… ${count(done.length)} files, ${bytes(sumOf(done))} in all`] : []),
  ]);
}

async function planned(cli: Cli, sources: readonly string[], target: ZoneRef, problems: Problem[]): Promise<Copy[]> {
  const into_folder = target.key === "" || target.key.endsWith("/") || sources.length > 1;
  const folder = target.key === "" || target.key.endsWith("/") ? target.key : `${target.key}/`;
  const copies: Copy[] = [];
  for (const source of sources) {
    const file = path.resolve(cli.io.cwd, source);
    const found = await lookAt(file).catch(() => null);
    if (found?.isDirectory()) {
      // "scenes" and "scenes/" are the same: its files come directly below the target.
      for (const inner of await filesIn(file)) {
        const key = folder + path.relative(file, inner.file).split(path.sep).join("/");
        copies.push({ ...inner, ref: { zone: target.zone, key } });
      }
    } else if (found?.isFile()) {
      const key = into_folder ? folder + path.basename(file) : target.key;
      copies.push({ file, bytes: found.size, ref: { zone: target.zone, key } });
    } else {
      problems.push({
        path: source,
        problem: found === null ? "there is no such file" : "is neither a file nor a folder",
        fix: "",
      });
    }
  }
  return copies;
}

/** Plain files only: what a link leads to may be anything. Hidden ones stay here. */
async function filesIn(folder: string): Promise<{ file: string; bytes: number }[]> {
  const found: { file: string; bytes: number }[] = [];
  const entries = await readdir(folder, { withFileTypes: true });
  for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
    const file = path.join(folder, entry.name);
    if (entry.name.startsWith(".")) continue;
    if (entry.isDirectory()) found.push(...(await filesIn(file)));
    else if (entry.isFile()) found.push({ file, bytes: (await lookAt(file)).size });
  }
  return found;
}

export function addGet(cli: Cli, files: CliCommand): void {
  files
    .command("get")
    .summary("copy a file of a zone to here")
    .description(
      "Copies a file to this machine; it is there whole or not at all, and takes no other's place without --force.",
    )
    .argument("<file>", "for example silver:dem/tile-1/cog.tif")
    .argument("[target]", "a file or folder of this machine (default: the same name, here)")
    .option("--force", "also over a file that is there already")
    .examples("fanfold files get silver:dem/tile-1/cog.tif", "fanfold files get bronze:scene.tif /tmp/")
    .action((file: string, target: string | undefined, options: { force?: boolean }) =>
      get(cli, refIn(file), target ?? ".", options.force === true),
    );
}

async function get(cli: Cli, ref: ZoneRef, target: string, force: boolean): Promise<void> {
  const { zones, tenant } = zonesOf(cli);
  const store = zones.store(ref.zone, tenant);
  const given = path.resolve(cli.io.cwd, target);
  const is_folder = target.endsWith("/") || ((await lookAt(given).catch(() => null))?.isDirectory() ?? false);
  const file = is_folder ? path.join(given, path.basename(ref.key)) : given;
  if (!force && (await lookAt(file).catch(() => null)) !== null) {
    throw usage(`${file} is there already`, { next: "--force writes over it" });
  }
  const found = await store.stat(ref.key);
  if (found === null) throw noFile(ref);
  const half = `${file}.${process.pid}.partial`;
  const bar = new Bar(cli, 1, found.bytes);
  bar.begin(formatZoneRef(ref));
  const { pieces, close } = await store.read(ref.key);
  const source = new Measured(bar.counted(pieces));
  try {
    const handle = await open(half, "wx");
    try {
      for await (const piece of source) await handle.writeFile(piece);
      await handle.sync();
    } finally {
      await handle.close();
    }
    // A link takes nobody's place, a rename does.
    if (force) await rename(half, file);
    else await link(half, file);
  } finally {
    await close();
    await rm(half, { force: true });
    bar.end();
  }
  const document = { ref: formatZoneRef(ref), file, bytes: source.bytes, sha256: source.sha256 };
  answer(cli, document, () => [`${printable(document.ref)} → ${printable(file)}  ${bytes(document.bytes)}`]);
}

function sumOf(all: readonly { bytes: number }[]): number {
  return all.reduce((sum, one) => sum + one.bytes, 0);
}

const media_types: Record<string, string> = {
  ".tif": "image/tiff", ".tiff": "image/tiff", ".png": "image/png", ".jpg": "image/jpeg", ".jpeg": "image/jpeg",
  ".json": "application/json", ".geojson": "application/geo+json", ".csv": "text/csv", ".txt": "text/plain",
  ".gpkg": "application/geopackage+sqlite3", ".parquet": "application/vnd.apache.parquet", ".zip": "application/zip",
}; // biome-ignore format: a list of words

function mediaType(file: string): string {
  return media_types[path.extname(file).toLowerCase()] ?? "application/octet-stream";
}
