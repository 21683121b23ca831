// fanfold demo up, which `npm start` runs: the server and a worker on what the demo left, with calls to paste.
import { isTerminal } from "../../core/shown/statuses.js";
import type { Engine } from "../../engine/engine.js";
import { type UpOptions, up } from "../commands/up.js";
import type { Cli } from "../terminal/command.js";
import { shortId } from "../terminal/view.js";
import { type DemoNotes, demoFolder } from "./demo_folder.js";
import { addresses, layerPage } from "./demo_layers.js";
import { mendCommand, searchUrl } from "./demo_result.js";
import { worldSearchUrl } from "./demo_world_result.js";

/** `notes`: null where only the world is. */
export async function demoUp(cli: Cli, options: UpOptions, notes: DemoNotes | null): Promise<void> {
  await up(cli, options, {
    name: "demo up",
    session: { embedded_dir: demoFolder(cli) },
    prepare: async ({ engine }) => {
      const key = await demoKey(engine);
      return (url) => tell(cli, engine, notes, { url, key });
    },
  });
}

/** A key that works as pasted, at each start; the one of the start before is no more. */
async function demoKey({ keys }: Engine): Promise<string> {
  const name = "demo";
  const { keys: former } = await keys.list({ limit: 1000 });
  for (const key of former) {
    if (key.name === name && key.status === "active") await keys.revoke(key.key_id, { actor: "fanfold demo" });
  }
  const made = await keys.create({ name, scopes: ["submit", "read", "operate"], actor: "fanfold demo" });
  return made.key;
}

interface Told {
  url: string;
  key: string;
}

async function tell(cli: Cli, engine: Engine, notes: DemoNotes | null, { url, key }: Told) {
  const header = `-H 'authorization: Bearer ${key}'`;
  const { Layers } = await import("../../catalog/layers.js");
  const found = await new Layers(engine.tenant).list(engine.db, { limit: 10 });
  const layers = found.map(({ name }) => ({ name, ...addresses(url, name) }));
  const scenes = notes === null ? null : await scenesOf(cli, engine, notes, { url, header });
  const search_url = notes === null ? worldSearchUrl(url) : searchUrl(url, notes);
  return {
    document: { demo: { ...scenes?.document, key, search_url, layers } },
    lines: [
      "",
      scenes?.title ?? "the demo's world",
      `  key       ${key}`,
      "            until the next start",
      `  search    curl -s ${header} '${search_url}'`,
      "  open      the href of an item's asset, with or without the key: gdalinfo '/vsicurl/<href>', or in QGIS",
      ...layers.map(({ name }) => `  look      ${layerPage(url, name)}`),
      ...layers.map(({ features_url }) => `  features  curl -s ${header} '${features_url}'`),
      ...layers.map(({ tiles_url }) => `  tiles     ${tiles_url}`),
      ...(scenes?.repair_lines ?? []),
    ],
  };
}

/** The job of the rasters, and how what is broken of it is repaired. */
async function scenesOf(cli: Cli, engine: Engine, notes: DemoNotes, { url, header }: { url: string; header: string }) {
  const { job_id, collection } = notes;
  const { status } = await engine.status(job_id);
  const place = { cwd: cli.io.cwd, folder: demoFolder(cli) };
  const repair = [mendCommand(place, notes), `curl -s -X POST ${header} ${url}/api/jobs/${job_id}/resume`];
  const is_broken = status !== "completed" && isTerminal(status);
  return {
    document: { collection, job_id, status, repair },
    title: `the demo's collection ${collection}: job ${shortId(job_id)}, ${status.replace("_", " ")}`,
    repair_lines: is_broken
      ? [
          "  repair    the broken scene; then the search finds one more:",
          ...repair.map((text) => `            ${text}`),
        ]
      : [],
  };
}
