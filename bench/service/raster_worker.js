// @ts-check
// A worker for rasters that runs one job and ends: started by raster.js below timed.py, which counts what it and its processes take. How
// long the job took, without the start of this process, is written where it is told to.
import { writeFileSync } from "node:fs";
import { createRegistry, openEngine, startWorker } from "../../dist/index.js";
import { builtinRegistry } from "../../dist/jobs/index.js";

const {
  database_url,
  storage_dir,
  scratch_dir,
  slots,
  engine: raster_engine,
  job,
  told,
} = JSON.parse(process.argv[2] ?? "{}");
const engine = await openEngine({
  database_url,
  storage_dir,
  registry: createRegistry(builtinRegistry()),
  connections: 4,
});
const worker = await startWorker(engine, { slots, scratch_dir, raster: { engine: raster_engine } });
const began = performance.now();
const { job_id } = await engine.submit(job.type, job.parameters);
for (;;) {
  const { status, error } = await engine.status(job_id);
  if (["completed", "partial_success", "failed", "cancelled"].includes(status)) {
    writeFileSync(told, JSON.stringify({ status, error, wall_s: (performance.now() - began) / 1000 }));
    break;
  }
  await new Promise((resolve) => setTimeout(resolve, 50));
}
await worker.stop();
await engine.close();
