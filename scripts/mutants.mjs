// The guards that test:mutations takes out, one at a time, and the tests that should turn red for each.
const finish_races = "test/engine/finish_races.test.ts";
const races = "test/engine/races.test.ts";
const janitor_races = "test/engine/janitor_races.test.ts";

/** [name, file, what is there, what stands there instead, test files, which tests of them] */
export const mutations = [
  [
    "finish: any worker may finish a claim",
    "db/functions/finish/finish.sql",
    "where k.claim_id = any (v_ids) and k.worker_id is not distinct from worker\n",
    "where k.claim_id = any (v_ids)\n",
    [finish_races],
  ],
  [
    "finish, one claim: what it no longer holds is stored",
    "db/functions/finish/store_of_one_claim.sql",
    "v_claim.held @> i.o and i.o >= 0",
    "i.o >= 0",
    [finish_races],
  ],
  [
    "finish, many claims: what they no longer hold is stored",
    "db/functions/finish/store_of_many_claims.sql",
    "k.claim_id = any (locked) and k.held @> i.o and i.o >= 0",
    "k.claim_id = any (locked) and i.o >= 0",
    [finish_races],
  ],
  [
    "finish: claims are not locked",
    "db/functions/finish/finish.sql",
    "     order by k.claim_id for update);",
    "     order by k.claim_id);",
    [races],
    "^races on a real server finish_",
  ],
  [
    "finish: a late result is not on record",
    "db/functions/finish/finish.sql",
    "if v_given > v_stored then",
    "if false then",
    [finish_races],
  ],
  [
    "settle: the ledger is read before it is locked",
    "db/functions/finish/settle.sql",
    `set completed = p.completed + d.completed, failed = p.failed + d.failed, remaining = p.remaining - d.completed - d.failed,
             is_open = p.remaining > d.completed + d.failed
        from unnest(v_stages, v_completed, v_failed) as d(stage_id, completed, failed)
       where`,
    `set completed = q.completed + d.completed, failed = q.failed + d.failed, remaining = q.remaining - d.completed - d.failed,
             is_open = q.remaining > d.completed + d.failed
        from unnest(v_stages, v_completed, v_failed) as d(stage_id, completed, failed)
        cross join lateral (select * from app.stage_progress q where q.stage_id = d.stage_id offset 0) q
       where`,
    [finish_races],
  ],
  [
    "settle: a closed ledger moves on",
    "db/functions/finish/settle.sql",
    "and p.stage_id = any (v_stages) and p.is_open",
    "and p.stage_id = any (v_stages)",
    [races],
    "slipped in beside a cancel",
  ],
  [
    "reap_workers: workers are not locked",
    "db/functions/janitor/reap_workers.sql",
    `limit 50
     for update skip locked);`,
    "limit 50);",
    [janitor_races],
  ],
  [
    "reap_workers: locked, but not looked at again",
    "db/functions/janitor/reap_workers.sql",
    [
      [
        "where w.status = 'live' and (v_own is null or w.tenant_id = v_own) and w.heartbeat_at < now() - make_interval(secs => w.lease_s)",
        `where w.worker_id = any (array(
       select s.worker_id from app.workers s where s.status = 'live' and s.heartbeat_at < now() - make_interval(secs => s.lease_s)))`,
      ],
      ["limit 50\n     for update skip locked);", "limit 50\n     for update);"],
    ],
    null,
    [janitor_races],
  ],
  [
    "mend_job: acts on what it saw before it had the locks",
    "db/functions/janitor/mend_job.sql",
    [
      [
        "  perform app.lock_job_for_verbs(v_job);\n",
        "  v_found := app.job_trouble(tenant, job);\n  perform app.lock_job_for_verbs(v_job);\n",
      ],
      [
        "      v_found := app.job_trouble(tenant, job);\n",
        "      if v_round > 1 then v_found := app.job_trouble(tenant, job); end if;\n",
      ],
    ],
    null,
    [janitor_races],
  ],
  [
    "mend_job: takes no locks",
    "db/functions/janitor/mend_job.sql",
    [
      ["  perform app.lock_job_for_verbs(v_job);\n", ""],
      ["      and p.is_open\n    order by p.stage_id for update;", "      and p.is_open\n    order by p.stage_id;"],
      [" and j.job_id = job for update;", " and j.job_id = job;"],
    ],
    null,
    [janitor_races],
  ],
  [
    "expire_tasks: claims are not locked",
    "db/functions/janitor/expire_tasks.sql",
    "where k.worker_id = v_worker and k.tenant_id = v_tenant order by k.claim_id for update;",
    "where k.worker_id = v_worker and k.tenant_id = v_tenant order by k.claim_id;",
    [janitor_races],
  ],
  [
    "expire_tasks: what has been finished meanwhile is failed",
    "db/functions/janitor/expire_tasks.sql",
    "and k.worker_id = v_worker and k.held @> (r ->> 'ordinal')::numeric::bigint",
    "and k.worker_id = v_worker",
    [janitor_races],
  ],
];

/** The text without the guard; says so when the guard is not where the table has it. */
export function mutantOf([name, file, there, instead], text) {
  const edits = typeof there === "string" ? [[there, instead]] : there;
  return edits.reduce((before, [from, to]) => {
    if (!before.includes(from)) throw new Error(`${name}: ${file} does not have\n${from}`);
    return before.replaceAll(from, to);
  }, text);
}
