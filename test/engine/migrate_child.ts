// Migrates in a process of its own, for a test that kills it. Arguments: database URL, folder.

import { openServer } from "../../src/engine/database/server_database.js";
import { migrate } from "../../src/engine/schema/migrate.js";

const [url = "", folder = ""] = process.argv.slice(2);
const db = openServer(url);
await migrate(db, { folder });
await db.close();
process.stdout.write("migrated\n");
