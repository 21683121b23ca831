// A scheduler in a process of its own, for a test that kills it. Argument: database URL.

import { openServer } from "../../src/engine/database/server_database.js";
import { Scheduler } from "../../src/engine/upkeep/scheduler.js";
import { engineOn } from "./scheduling.js";

const [url = ""] = process.argv.slice(2);
const db = openServer(url);
const engine = engineOn(db);
await new Scheduler({ engine, log: engine.log }).round();
await db.close();
