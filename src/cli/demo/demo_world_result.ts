// What `fanfold demo world` left, read back from the zone and the database: as a document, and in words with commands to paste.
import path from "node:path";
import { layers_api } from "../../core/api/layers.js";
import { printable } from "../../core/values/printable.js";
import type { BlobStore } from "../../storage/index.js";
import { bytes, count, seconds } from "../terminal/figures.js";
import type { Session } from "../terminal/session.js";
import { typed } from "./demo_folder.js";
import { addresses, layerPage } from "./demo_layers.js";
import type { DemoPlace } from "./demo_result.js";
import { world_collections, world_layers } from "./demo_world_plan.js";

export interface WorldJob {
  title: string;
  job_type: string;
  job_id: string;
  result: unknown;
  /** False: it was there from an earlier run. */
  is_new: boolean;
}

export type WorldResult = Awaited<ReturnType<typeof worldResult>>;

export async function worldResult(
  { engine, config }: Session,
  { cwd, folder }: DemoPlace,
  jobs: readonly WorldJob[],
  took_s: number,
) {
  const server = `http://${config.host}:${config.port}`;
  const gold = engine.zones.store("gold", engine.tenant);
  const exported = await Promise.all(
    jobs.flatMap(({ result }) => {
      const { name, manifest } = (result ?? {}) as Partial<Exported>;
      return name === undefined || manifest === undefined ? [] : [filesOf(gold, name, path.posix.dirname(manifest))];
    }),
  );
  const layers = await Promise.all(
    world_layers.map(async (layer_id) => {
      const { name, feature_count } = await engine.call(layers_api.get, { layer_id });
      return { name, feature_count, page_url: layerPage(server, name), ...addresses(server, name) };
    }),
  );
  const at = `--data-dir ${typed(cwd, folder)}`;
  return {
    jobs: jobs.map(({ result: _, ...job }) => job),
    exports: exported,
    gold_folder: path.join(gold.place, "exports"),
    layers,
    search_url: worldSearchUrl(server),
    next: [`npx fanfold demo up ${at}`, `npx fanfold files ls gold:exports/ ${at}`, `npx fanfold jobs ${at}`],
    took_s,
  };
}

/** What the jobs of exports say of them. */
interface Exported {
  name: string;
  /** In the folder of its files. */
  manifest: string;
}

/** Those that the finished job named lie in a folder of their own: what a worker that died left is in another. */
async function filesOf(gold: Pick<BlobStore, "list">, name: string, folder: string) {
  const { entries } = await gold.list(`${folder.slice("gold:".length)}/`);
  const files = entries.map(({ key, bytes }) => ({ file: path.posix.basename(key), bytes }));
  return { name, folder: `${folder}/`, files };
}

export function worldSearchUrl(server: string): string {
  return `${server}/stac/search?collections=${world_collections.join(",")}`;
}

/** Stages that run once for each item of a catalogue. */
const of_item = /^(item|file)-/;

export function* worldLines(told: WorldResult): Generator<string> {
  const { jobs, layers, search_url, next, took_s } = told;
  const all = told.exports.flatMap(({ files }) => files);
  const size = `${count(all.length)} files of ${bytes(sizeOf(all))} in zone gold`;
  yield "";
  yield jobs.some(({ is_new }) => is_new)
    ? `The world is there: ${size}, in ${seconds(took_s)}.`
    : `The world was there already: ${size}.`;
  for (const { name, folder, files } of told.exports) {
    const items = files.filter(({ file }) => of_item.test(file));
    yield `  export   ${printable(name)}: ${count(files.length)} files of ${bytes(sizeOf(files))} in ${printable(folder)}`;
    for (const { file, bytes: each } of files)
      if (!of_item.test(file)) yield `           ${printable(file)}, ${bytes(each)}`;
    if (items.length > 0) yield `           and ${count(items.length)} of its items, ${bytes(sizeOf(items))}`;
  }
  for (const { name, feature_count, page_url } of layers)
    yield `  layer    ${name} with ${count(feature_count)} cells: ${page_url}`;
  for (const { tiles_url } of layers) yield `  tiles    ${tiles_url}`;
  yield `  search   ${search_url}`;
  yield "  next     these addresses answer while the first of these runs:";
  for (const command of next) yield `           ${command}`;
}

function sizeOf(files: readonly { bytes: number }[]): number {
  return files.reduce((sum, { bytes }) => sum + bytes, 0);
}
