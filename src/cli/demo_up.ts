// fanfold demo up, which `npm start` runs: the server and a worker on what the demo left, with calls to paste.
import { isTerminal } from "../core/statuses.js";
import type { Engine } from "../engine/engine.js";
import type { Cli } from "./command.js";
import { type DemoNotes, demoFolder, readNotes } from "./demo_folder.js";
import { mendCommand, searchUrl } from "./demo_raster.js";
import { type UpOptions, up } from "./up.js";
import { shortId } from "./view.js";

type Notes = DemoNotes & { job_id: string };

export async function demoUp(cli: Cli, options: UpOptions): Promise<void> {
  const notes = readNotes(demoFolder(cli))!;
  await up(cli, options, {
    name: "demo up",
    session: { embedded_dir: demoFolder(cli) },
    prepare: async ({ engine }) => {
      const key = await demoKey(engine);
      return (url) => tell(cli, engine, notes, { url, key });
    },
  });
}

/** A key that works as pasted, at each start: the one of the start before is no more. */
async function demoKey({ keys }: Engine): Promise<string> {
  const name = "demo";
  const { keys: former } = await keys.list({ limit: 1000 });
  for (const key of former) {
    if (key.name === name && key.status === "active") await keys.revoke(key.key_id, { actor: "fanfold demo" });
  }
  const made = await keys.create({ name, scopes: ["submit", "read", "operate"], actor: "fanfold demo" });
  return made.key;
}

async function tell(cli: Cli, engine: Engine, notes: Notes, { url, key }: { url: string; key: string }) {
  const { job_id } = notes;
  const { status } = await engine.status(job_id);
  const header = `-H 'authorization: Bearer ${key}'`;
  const search_url = searchUrl(url);
  const resume = `curl -X POST ${header} ${url}/api/jobs/${job_id}/resume`;
  const document = { collection: notes.collection, job_id, status, key, search_url };
  const repair = [mendCommand(cli, notes.broken), resume];
  return {
    document: { ...document, repair },
    lines: [
      "",
      `the demo's data: job ${shortId(job_id)}, ${status}`,
      `  key       ${key} (until the next start)`,
      `  search    curl ${header} '${search_url}'`,
      ...(status === "completed" || !isTerminal(status)
        ? []
        : [
            "  repair    the broken scene, and see the search find one more:",
            ...repair.map((text) => `            ${text}`),
          ]),
    ],
  };
}
