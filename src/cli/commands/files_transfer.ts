// fanfold files put and get: between this machine and a zone, with a bar while it takes long.
import { link, stat as lookAt, open, readdir, rename, rm } from "node:fs/promises";
import path from "node:path";
import { performance } from "node:perf_hooks";
import type { Command } from "commander";
import type { Problem } from "../../core/errors/problems.js";
import { formatZoneRef, type ZoneRef } from "../../core/places/zones.js";
import { printable, truncate } from "../../core/values/printable.js";
import { Measured, piecesOfFile } from "../../storage/blob_store.js";
import { readableProblem } from "../../storage/keys.js";
import { answer, type Cli, examples } from "../terminal/command.js";
import { usage } from "../terminal/failure.js";
import { bytes, count, seconds } from "../terminal/figures.js";
import { noFile, refIn, zonesOf } from "../terminal/files_refs.js";

export function addPut(cli: Cli, files: Command): void {
  files
    .command("put")
    .summary("copy files from here into a zone")
    .description(
      "Copies files, or folders with all that is in them, into a zone. A target that ends with / is a folder. A file is there\n" +
        "whole or not at all; one that is there already stays, unless --force is given.",
    )
    .argument("<files...>", "files and folders of this machine, and last where to: bronze:dem/")
    .option("--force", "also over files that are there already")
    .addHelpText(
      "after",
      examples("fanfold files put scene.tif bronze:dem/scene.tif", "fanfold files put scenes/ bronze:dem/"),
    )
    .action((files: string[], options: { force?: boolean }) => {
      const target = files.at(-1) ?? "";
      if (files.length < 2)
        throw usage("it takes a file and where to put it", { next: "fanfold files put scene.tif bronze:" });
      return put(cli, files.slice(0, -1), refIn(target, false), options.force === true);
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
  const done: { file: string; ref: string; bytes: number; sha256: string }[] = [];
  for (const { file, ref, bytes: known } of copies) {
    bar.begin(file);
    const source = bar.counted(piecesOfFile(file));
    const { bytes: size, sha256 } = await store.write(ref.key, source, { media_type: mediaType(file), bytes: known });
    done.push({ file, ref: formatZoneRef(ref), bytes: size, sha256 });
  }
  bar.end();
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

export function addGet(cli: Cli, files: Command): void {
  files
    .command("get")
    .summary("copy a file of a zone to here")
    .description(
      "Copies a file to this machine; it is there whole or not at all, and takes no other's place without --force.",
    )
    .argument("<file>", "for example silver:dem/tile-1/cog.tif")
    .argument("[target]", "a file or folder of this machine (default: the same name, here)")
    .option("--force", "also over a file that is there already")
    .addHelpText(
      "after",
      examples("fanfold files get silver:dem/tile-1/cog.tif", "fanfold files get bronze:scene.tif /tmp/"),
    )
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

const REDRAW_MS = 100;
const BAR = 24;

/** Drawn while somebody watches, and only once it takes a moment. */
class Bar {
  #name = "";
  #done = 0;
  #files = 0;
  readonly #began = performance.now();
  #drawn_at = performance.now();

  constructor(
    private readonly cli: Cli,
    private readonly files: number,
    private readonly total: number,
  ) {}

  begin(name: string): void {
    this.#name = name;
    this.#files++;
  }

  async *counted(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    for await (const piece of pieces) {
      yield piece;
      this.#done += piece.byteLength;
      this.#draw();
    }
  }

  #draw(): void {
    const { io } = this.cli;
    const now = performance.now();
    if (!io.live || now - this.#drawn_at < REDRAW_MS) return;
    this.#drawn_at = now;
    const share = this.total === 0 ? 1 : Math.min(1, this.#done / this.total);
    const filled = Math.round(share * BAR);
    const per_s = (this.#done * 1000) / Math.max(1, now - this.#began);
    const left = per_s > 0 ? `  ${seconds(Math.max(0, this.total - this.#done) / per_s)} left` : "";
    const number = this.files > 1 ? `${count(this.#files)} of ${count(this.files)}  ` : "";
    const line = `${"█".repeat(filled)}${"░".repeat(BAR - filled)} ${Math.floor(share * 100)} %  ${bytes(this.#done)} of ${bytes(this.total)}  ${bytes(per_s)}/s${left}  ${number}${printable(this.#name)}`;
    io.draw(truncate(line, io.screen_width()));
  }

  end(): void {
    if (this.cli.io.live) this.cli.io.drawn();
  }
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
