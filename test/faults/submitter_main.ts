// Started by submitter.ts. On SIGTERM it closes its engine, as a server does, and leaves when all its submits are settled.
import { writeSync } from "node:fs";
import { openEngine } from "../../src/engine/open_engine.js";
import { faultRegistry, nobody } from "./cast.js";
import type { SubmitterTask } from "./submitter.js";

const { database_url, storage_dir, jobs } = JSON.parse(process.argv[2]!) as SubmitterTask;
const engine = await openEngine({ database_url, storage_dir, registry: faultRegistry(nobody) });
const said = (line: string) => void writeSync(1, `${line}\n`);
process.on("SIGTERM", () => void engine.close());
await Promise.all(
  jobs.map((parameters) =>
    engine.submit("chain", parameters).then(
      ({ job_id }) => said(`ack ${job_id}`),
      (error: { code?: string }) => said(`refused ${error.code}`),
    ),
  ),
);
await engine.close();
