// A data folder with a migrated embedded database, copied from one that the test run makes once: starting from nothing takes many
// times as long.
import { cp } from "node:fs/promises";
import path from "node:path";
import { openEmbedded } from "../../src/engine/database/embedded_database.js";
import { madeOnce } from "../made_once.js";
import { embeddedDump } from "../postgres.js";

export async function migratedFolder(data_dir: string): Promise<void> {
  const made = await madeOnce("embedded_folder", async (folder) => {
    const stored = await openEmbedded(path.join(folder, "database"), { load: await embeddedDump() });
    await stored.close();
  });
  await cp(made, data_dir, { recursive: true });
}
