// A data folder with a migrated embedded database, loaded from the dump that the test run shares: starting from nothing
// takes many times as long.
import path from "node:path";
import { openEmbedded } from "../../src/engine/embedded_database.js";
import { freshEmbedded } from "../postgres.js";

export async function migratedFolder(data_dir: string): Promise<void> {
  const fresh = await freshEmbedded();
  const dump = await fresh.dump();
  await fresh.close();
  const stored = await openEmbedded(path.join(data_dir, "database"), { load: dump });
  await stored.close();
}
