// What every worker does for all beside its tasks: the janitor's duties, schedules, and the files that are left over.
import { fileKeeper } from "../../engine/upkeep/file_keeper.js";
import { Housekeeping } from "../../engine/upkeep/housekeeping.js";
import { type Alert, Janitor } from "../../engine/upkeep/janitor.js";
import { Retention } from "../../engine/upkeep/retention.js";
import { Scheduler } from "../../engine/upkeep/scheduler.js";
import { sweepScratch } from "../run/scratch.js";
import type { WorkerShared } from "./incarnation.js";
import type { Registration } from "./registration.js";

export function openHousekeeping(registration: Registration, { engine, settings }: WorkerShared): Housekeeping {
  const { worker_id, lease, log, stats } = registration;
  const db = registration.db.aside?.() ?? registration.db;
  const on_alert = (alert: Alert) => {
    stats.alerts++;
    return settings.on_alert?.(alert);
  };
  const janitor = new Janitor({ db, log, on_alert });
  const scheduler = new Scheduler({ engine, db, log, on_alert });
  const files = fileKeeper(engine, db, log, () =>
    sweepScratch(settings.scratch_dir, worker_id, engine.leftovers_after_h * 3_600_000, log),
  );
  return new Housekeeping(janitor, log, lease.lease_ms / 1000, [scheduler, files, new Retention({ db, log })]);
}
