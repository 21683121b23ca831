// What a worker has done since it started, for tests, logs and the command line.
export class Stats {
  claims = 0;
  empty_claims = 0;
  claimed = 0;
  largest_batch = 0;
  completed = 0;
  failed = 0;
  retried = 0;
  refused = 0;
  released = 0;
  /** Outcomes that were not sent, because the task was lost or the lease over. */
  dropped = 0;
  /** Results that came after their task had been given up. */
  late = 0;
  timed_out = 0;
  planned = 0;
  fenced = 0;
  /** What the janitor found that should not be. */
  alerts = 0;
}
