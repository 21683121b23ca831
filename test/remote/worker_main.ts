// The remote worker of the fault suite in TypeScript: told by the environment where to work.
import { startRemoteWorker } from "../../src/client/worker.js";
import { block, child, hold, publish, step, sum } from "./worker_handlers.js";

const { FANFOLD_URL = "", FANFOLD_KEY = "", FANFOLD_SLOTS = "4", FANFOLD_LEASE_S = "5" } = process.env;

const worker = await startRemoteWorker({
  url: FANFOLD_URL,
  key: FANFOLD_KEY,
  handlers: [step, hold, publish, block, child, sum],
  slots: Number(FANFOLD_SLOTS),
  lease_s: Number(FANFOLD_LEASE_S),
  wait_s: 2,
  abort_grace_s: 1,
  // What its handlers note lies in a folder of this user's.
  isolation_user: "same",
  memory_mb: 1000,
});
process.stdout.write("ready\n");
for (const signal of ["SIGTERM", "SIGINT"] as const) {
  process.once(signal, () => {
    process.once(signal, () => process.exit(130));
    void worker.stop().then(() => process.exit(0));
  });
}
