// fanfold demo up, which `npm start` runs: the server and a worker on what the demo left, with calls to paste.
import { isTerminal } from "../../core/shown/statuses.js";
import type { Engine } from "../../engine/engine.js";
import { type UpOptions, up } from "../commands/up.js";
import type { Cli } from "../terminal/command.js";
import { shortId } from "../terminal/view.js";
import { type DemoNotes, demoFolder } from "./demo_folder.js";
import { addresses } from "./demo_layers.js";
import { mendCommand, searchUrl } from "./demo_result.js";

export async function demoUp(cli: Cli, options: UpOptions, notes: DemoNotes): Promise<void> {
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

async function tell(cli: Cli, engine: Engine, notes: DemoNotes, { url, key }: { url: string; key: string }) {
  const { job_id, collection } = notes;
  const { status } = await engine.status(job_id);
  const header = `-H 'authorization: Bearer ${key}'`;
  const search_url = searchUrl(url, notes);
  const { Layers } = await import("../../catalog/layers.js");
  const found = await new Layers(engine.tenant).list(engine.db, { limit: 10 });
  const layers = found.map(({ name }) => ({ name, ...addresses(url, name) }));
  const place = { cwd: cli.io.cwd, folder: demoFolder(cli) };
  const repair = [mendCommand(place, notes), `curl -s -X POST ${header} ${url}/api/jobs/${job_id}/resume`];
  return {
    document: { demo: { collection, job_id, status, key, search_url, layers, repair } },
    lines: [
      "",
      `the demo's collection ${collection}: job ${shortId(job_id)}, ${status.replace("_", " ")}`,
      `  key       ${key}`,
      "            until the next start",
      `  search    curl -s ${header} '${search_url}'`,
      "  open      the href of an item's asset, with or without the key: gdalinfo '/vsicurl/<href>', or in QGIS",
      ...layers.map(({ features_url }) => `  features  curl -s ${header} '${features_url}'`),
      ...layers.map(({ tiles_url }) => `  tiles     ${tiles_url}`),
      ...(status === "completed" || !isTerminal(status)
        ? []
        : [
            "  repair    the broken scene; then the search finds one more:",
            ...repair.map((text) => `            ${text}`),
          ]),
    ],
  };
}
