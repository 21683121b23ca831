// What the database measured, as metrics. Pure: takes what app.read_metrics answered.
import { duration_bounds_s, readCounts } from "../../core/task/work_counts.js";
import type { Measured, MeasuredQueue } from "../../engine/verbs/metrics.js";
import { Family, type MetricType } from "./exposition.js";

export function databaseFamilies(measured: Measured): Family[] {
  return [
    ...queueFamilies(measured.queue),
    ...jobFamilies(measured),
    ...workFamilies(measured.work),
    ...tallyFamilies(measured.tallies),
    ...serviceFamilies(measured),
    ...vitalFamilies(measured.database),
  ];
}

function queueFamilies({ task_types, tenants }: Measured["queue"]): Family[] {
  const of = (prefix: string, label: string, rows: MeasuredQueue[], by: string) => {
    const queued = gauge(
      `fanfold_${prefix}queue_tasks`,
      `Queued tasks ${by}: due, or to run later. The largest are named, the others are _other.`,
    );
    const oldest = gauge(
      `fanfold_${prefix}queue_oldest_seconds`,
      `How long the longest-waiting due task waits, ${by}.`,
    );
    const running = gauge(`fanfold_${prefix}tasks_running`, `Tasks that workers hold, ${by}.`);
    for (const [name, due, later, oldest_s, held] of rows) {
      const labels = { [label]: name };
      queued.sample(due, { ...labels, state: "due" }).sample(later, { ...labels, state: "later" });
      oldest.sample(oldest_s, labels);
      running.sample(held, labels);
    }
    return [queued, oldest, running];
  };
  return [
    ...of("", "task_type", task_types, "by task type"),
    ...of("tenant_", "tenant", tenants, "by tenant"),
    // Sums over everything: what has no row above is zero, and an alert needs a sample even then.
    gauge("fanfold_queue_due_tasks", "Queued tasks that are due.").sample(total(task_types, 1)),
    gauge("fanfold_queue_oldest_due_seconds", "How long the longest-waiting due task of all waits.").sample(
      Math.max(0, ...task_types.map(([, , , oldest_s]) => oldest_s)),
    ),
  ];
}

const total = (rows: MeasuredQueue[], at: 1 | 2 | 4) => rows.reduce((sum, row) => sum + row[at], 0);

function jobFamilies({ jobs: { queued, processing, paused } }: Measured): Family[] {
  return [
    gauge("fanfold_jobs_open", "Jobs that have not ended, by status.")
      .sample(queued, { status: "queued" })
      .sample(processing, { status: "processing" }),
    gauge("fanfold_jobs_paused", "Open jobs that are paused.").sample(paused),
  ];
}

function workFamilies(work: Measured["work"]): Family[] {
  const claimed = counter("fanfold_tasks_claimed_total", "Tasks that workers took, by task type.");
  const finished = counter("fanfold_tasks_finished_total", "Attempts that ended, by task type and outcome.");
  const failed = counter("fanfold_task_failures_total", "Attempts that failed, by task type and category.");
  const retried = counter("fanfold_task_retries_total", "Failed attempts that will be repeated, by category.");
  const refused = counter(
    "fanfold_finishes_refused_total",
    "Results that came too late: others held the task by then.",
  );
  const durations = new Family("fanfold_task_duration_seconds", "histogram", "How long attempts took, by task type.");
  for (const [task_type, counts] of Object.entries(work).sort(([a], [b]) => (a < b ? -1 : 1))) {
    const told = readCounts(counts);
    const failures = Object.values(told.failed).reduce((sum, count) => sum + count, 0);
    claimed.sample(told.claimed, { task_type });
    finished.sample(told.completed, { task_type, outcome: "completed" });
    finished.sample(failures, { task_type, outcome: "failed" });
    for (const [category, count] of Object.entries(told.failed)) failed.sample(count, { task_type, category });
    for (const [category, count] of Object.entries(told.retried)) retried.sample(count, { task_type, category });
    refused.sample(told.refused, { task_type });
    durations.histogram(duration_bounds_s, told.durations, told.duration_s, { task_type });
  }
  return [claimed, finished, failed, retried, refused, durations];
}

function tallyFamilies(tallies: Measured["tallies"]): Family[] {
  const of = (name: string) => tallies.filter((tally) => tally[0] === name);
  const lost = counter("fanfold_tasks_lost_total", "Tasks whose worker died while it held them, by task type.");
  for (const [, task_type, amount] of of("tasks_lost")) lost.sample(amount, { task_type });
  const ended = counter("fanfold_jobs_ended_total", "Jobs that ended, by status.");
  const counts = new Map(of("jobs_ended").map(([, status, amount]) => [status, amount]));
  for (const status of ["completed", "partial_success", "failed", "cancelled"]) {
    ended.sample(counts.get(status) ?? 0, { status });
  }
  const alerts = counter("fanfold_alerts_total", "Alerts of the janitor, by kind.");
  for (const [, kind, amount] of of("alerts")) alerts.sample(amount, { kind });
  const deliveries = counter("fanfold_webhook_deliveries_ended_total", "Webhook deliveries that ended, by status.");
  const sent = new Map(of("webhooks_ended").map(([, status, amount]) => [status, amount]));
  for (const status of ["delivered", "failed", "discarded"]) deliveries.sample(sent.get(status) ?? 0, { status });
  const dead = of("workers_lost").reduce((sum, [, , amount]) => sum + amount, 0);
  const workers = counter("fanfold_workers_lost_total", "Workers that stopped sending heartbeats.").sample(dead);
  return [lost, ended, alerts, deliveries, workers];
}

function serviceFamilies({ workers, janitor, parts }: Measured): Family[] {
  const families = [
    gauge("fanfold_workers", "Registered workers: live, and of these those whose lease is over.")
      .sample(workers.live - workers.silent, { state: "live" })
      .sample(workers.silent, { state: "silent" }),
    gauge("fanfold_worker_slots", "Tasks that live workers can run at once.").sample(workers.slots),
    gauge("fanfold_worker_slots_busy", "Tasks that live workers ran at their last heartbeat.").sample(workers.busy),
  ];
  const age = gauge("fanfold_janitor_age_seconds", "Since the janitor last did all its duties.");
  if (janitor.age_s !== null) age.sample(janitor.age_s);
  const stamp = gauge("fanfold_janitor_last_success_timestamp_seconds", "When the janitor last did all its duties.");
  if (janitor.last_success_at !== null) stamp.sample(Date.parse(janitor.last_success_at) / 1000);
  const failing = gauge("fanfold_janitor_failing", "1 when the janitor's last round had an error.").sample(
    janitor.last_error === null ? 0 : 1,
  );
  families.push(age, stamp, failing);
  if (parts.webhooks !== undefined) {
    const { pending, oldest_s } = parts.webhooks;
    families.push(
      gauge("fanfold_webhook_deliveries_pending", "Webhook deliveries that are on their way.").sample(pending),
      gauge("fanfold_webhook_oldest_seconds", "How late the most overdue webhook delivery is.").sample(oldest_s),
    );
  }
  if (parts.schedules !== undefined) {
    families.push(
      gauge("fanfold_schedules", "Schedules that are on.").sample(parts.schedules.enabled),
      gauge("fanfold_schedule_lag_seconds", "How late the most overdue schedule is.").sample(parts.schedules.lag_s),
    );
  }
  return families;
}

function vitalFamilies(database: Measured["database"]): Family[] {
  if (database === null) return [];
  const dead = gauge("fanfold_database_dead_tuples", "Row versions that wait for vacuum, by table.");
  const live = gauge("fanfold_database_live_tuples", "Rows, as the server estimates them, by table.");
  for (const [table, gone, there] of database.tables) {
    dead.sample(gone, { table });
    live.sample(there, { table });
  }
  return [
    gauge("fanfold_database_size_bytes", "Size of the database on disk.").sample(database.size_bytes),
    gauge("fanfold_database_connections", "Connections to the database.").sample(database.connections),
    gauge("fanfold_database_connections_limit", "max_connections of the server.").sample(database.connection_limit),
    counter("fanfold_database_transactions_total", "Transactions of the database, by end.")
      .sample(database.commits, { end: "commit" })
      .sample(database.rollbacks, { end: "rollback" }),
    counter("fanfold_database_deadlocks_total", "Deadlocks that the server has broken.").sample(database.deadlocks),
    gauge("fanfold_database_locks_waiting", "Locks that are waited for.").sample(database.locks_waiting),
    gauge(
      "fanfold_database_oldest_xmin_age_transactions",
      "How many transactions back the oldest snapshot reaches: what vacuum cannot remove.",
    ).sample(database.oldest_xmin_age),
    gauge("fanfold_database_oldest_transaction_seconds", "How long the oldest transaction has been open.").sample(
      database.oldest_transaction_s,
    ),
    gauge(
      "fanfold_database_stats_visible",
      "1 when sessions of other roles are seen as well (grant pg_read_all_stats to fanfold_owner).",
    ).sample(database.stats_visible ? 1 : 0),
    dead,
    live,
  ];
}

function gauge(name: string, help: string): Family {
  return family(name, "gauge", help);
}

function counter(name: string, help: string): Family {
  return family(name, "counter", help);
}

function family(name: string, type: MetricType, help: string): Family {
  return new Family(name, type, help);
}
