// What a hostile tenant has lying about when it opens a transaction and does not end it: for every verb that its login may call,
// something of its own for that verb to lock, and a call that locks it.
import { randomUUID } from "node:crypto";
import type { Database, Queryable } from "../../src/engine/database/database.js";
import { claim, finish, type Held, one, submit } from "../engine/floor.js";
import { evilRequests } from "./evil_requests.js";

const json = (value: unknown) => JSON.stringify(value);
const endpoint = (id: string) => `we_${id.padEnd(16, "0")}`;
const one_stage = (task: string) => [{ name: "only", task }];

export interface EvilScene {
  /** Jobs whose task the shared worker runs, held at the gate. */
  running: string[];
  calls: Record<string, string>;
}

/** `evil`: the login's own connection; `db`: the operator's. The shared worker takes t.gated, and nobody takes t.none. */
export async function setEvilScene(db: Database, evil: Database): Promise<EvilScene> {
  let number = 0;
  const job = async (stages: { name: string; task: string }[], options: object = {}) =>
    (await submit(evil, stages, { evil: number++ }, { tenant: "evil", options })).job_id;
  const queued = () => job(one_stage("t.none"));
  const running = await Promise.all(
    Array.from({ length: 8 }, (_, n) => job(one_stage("t.gated"), n < 2 ? { group_id: "counted" } : {})),
  );
  const worker = randomUUID();
  const facts = { worker_id: worker, types: ["t.own"], slots: 4, host: "h", pid: 1, version: "0", connections: 0 };
  await evil.sql`select app.register_worker(${json({ ...facts, lease_s: 300 })}::text::json)`;
  const own = async (type: string): Promise<Held> => {
    await job(one_stage(type));
    return (await claim(evil, worker, [type], 1))[0]!;
  };
  const failed: string[] = [];
  for (let n = 0; n < 7; n++) {
    failed.push(await job(one_stage("t.own")));
    await finish(evil, worker, await claim(evil, worker, ["t.own"]), () => ({ category: "permanent" }));
  }
  const done = await own("t.own");
  await finish(evil, worker, [done]);
  const { signature } = await one(db.sql<{ signature: string }>`select signature from app.attempts limit 1`);
  const stage_of = async (job_id: string) =>
    (await one(db.sql<{ id: number }>`select stage_id as id from app.stages where job_id = ${job_id}`)).id;
  const task_of = async (job_id: string) => `${await stage_of(job_id)}-0`;
  const wide = await job([{ name: "only", task: "t.none", plan: { count: 5000 } } as never]);
  const gated = await job([{ name: "only", task: "t.none", gate: { message: "Go?" } } as never]);
  await job(one_stage("t.claimed"));
  const paused = await queued();
  await evil.sql`select app.pause_job(${paused})`;
  await evil.sql`select app.pause_type('t.paused')`;
  const lone = async () =>
    (await one(evil.sql<{ r: { task_id: string } }>`select app.enqueue('t.none', '{}') as r`)).r.task_id;

  for (const name of ["put", "pause", "delete", "now", "take"]) {
    const request = { name, cron: "* * * * *", time_zone: "UTC", job_type: "test_job", next_at: new Date(0) };
    await evil.sql`select app.put_schedule(${json(request)}::text::json)`;
  }
  await db.sql`update app.schedules set next_at = '2020-01-01T00:00:00Z' where tenant_id = 'evil'`;
  const { schedule } = await one(db.sql<{ schedule: number }>`
    select schedule_id as schedule from app.schedules where tenant_id = 'evil' and name = 'take'`);

  const hook = (endpoint_id: string) =>
    json({ endpoint_id, url: "https://hooks.invalid/", secret: "secret://none", events: ["job.completed"] });
  for (const id of ["update", "rotate", "delete", "ping"]) {
    await evil.sql`select app.create_webhook(${hook(endpoint(id))}::text::json)`;
  }
  const deliveries: string[] = [];
  for (const status of ["pending", "pending", "pending", "failed", "failed"]) {
    const { id } = await one(db.sql<{ id: string }>`
      insert into app.webhook_deliveries (tenant_id, delivery_id, endpoint_id, event_type, payload, status, next_at, ended_at)
      values ('evil', app.new_delivery_id(), 'we_ping000000000000', 'ping', '{}', ${status},
        case when ${status} = 'pending' then now() - interval '1 hour' end, case when ${status} = 'failed' then now() end)
      returning delivery_id as id`);
    deliveries.push(id);
  }
  const key = (key_id: string) => json({ key_id, name: key_id, secret_hash: "ab".repeat(32), scopes: ["read"] });
  for (const id of ["rotateaaaaaa", "revokeaaaaaa"]) await evil.sql`select app.create_key(${key(id)}::text::json)`;
  await evil.sql`select app.put_view('gone', 'status=failed')`;
  const saved = (type: string) =>
    json({ declaration: {}, blueprint: { type, stages: [{ name: "only", task: "t.none" }] } });
  await evil.sql`select app.put_blueprint(${saved("removed")}::text::json)`;
  const { hash } = await one(evil.sql<{ hash: string }>`
    select app.keep_blueprint(${json({ type: "kept", stages: one_stage("t.none") })}::text::jsonb) #>> '{}' as hash`);
  const config = (name: string) => json({ connector: "http.request", name, config: {} });
  await evil.sql`select app.set_connector(${config("gone")}::text::json)`;
  const file = (key_: string) =>
    json({ zone: "silver", key: key_, name: "f", bytes: 1, sha256: "ab".repeat(32), media_type: "text/plain" });
  await evil.sql`select app.publish_asset(${file("retract")}::text::json), app.publish_asset(${file("forget")}::text::json)`;
  await evil.sql`select app.retract_asset('silver', 'forget')`;
  const host = json({ scope: "host", max_concurrent: 5, lease_s: 60 });
  const { slot } = await one(evil.sql<{ slot: number }>`
    select (app.host_enter(${host}::text::json) ->> 'slot_id')::bigint as slot`);

  const coming = (key_: string) => json({ key: key_, bytes: 1, part_bytes: 1, expires_s: 600 });
  const uploads: string[] = [];
  for (const name of ["end", "forget", "get", "take"]) {
    const { id } = await one(evil.sql<{ id: string }>`
      select app.begin_upload(${coming(name)}::text::json) ->> 'upload_id' as id`);
    uploads.push(id);
  }
  await evil.sql`select app.take_upload_key(${uploads[0]!}::text::uuid)`;
  for (const type of ["t.hinted", "t.hinted_for"]) await job(one_stage(type));

  const held = { finish: await own("t.own"), release: await own("t.own") };
  // The shared worker plans too, and may be quicker.
  const plan = async (): Promise<number> => {
    for (;;) {
      await job([{ name: "only", task: "t.none", plan: { count: 5000 } } as never]);
      const [held] = await claim(evil, worker, ["#plan"], 1);
      if (held !== undefined) return held.claim_id;
    }
  };
  const plans = { stage: await plan(), tasks: await plan() };
  const blueprint = quoted(json({ type: "test_job", stages: one_stage("t.none") }));
  const again = quoted(json({ type: "test_job", stages: one_stage("t.gated") }));
  const lines = quoted(
    json([{ c: held.finish.claim_id, o: held.finish.ordinal, a: 1, ms: 0, level: "info", message: "m" }]),
  );
  const w = `'${worker}'::uuid`;

  return {
    running,
    calls: {
      adopt_asset: `app.adopt_asset(${quoted(file("adopt"))})`,
      begin_delivery: `app.begin_delivery('${deliveries[0]}', 1)`,
      begin_run_now: "app.begin_run_now('now')",
      begin_upload: `app.begin_upload('${coming("begin")}')`,
      cancel_job: `app.cancel_job('${running[0]}')`,
      cancel_task: `app.cancel_task('${await lone()}')`,
      change_job: `app.change_job('${await queued()}', 5)`,
      claim: `app.claim('${json({ worker_id: worker, types: ["t.claimed"], limit: 3, after_tenant: null })}')`,
      claim_for: `app.claim_for('${json({ worker_id: worker, limit: 1 })}')`,
      claim_hinted: `app.claim_hinted(${w}, 't.hinted', '{}', '${json({ worker_id: worker, types: ["t.hinted"], limit: 1, after_tenant: null })}')`,
      claim_hinted_for: `app.claim_hinted_for(${w}, 't.hinted_for', '{}', '${json({ worker_id: worker, types: ["t.hinted_for"], limit: 1, after_tenant: null })}')`,
      continue_job: `app.continue_job('${paused}')`,
      continue_type: "app.continue_type('t.paused')",
      count_usage: "app.count_usage()",
      create_group: `app.create_group('{"group_id": "made"}')`,
      create_key: `app.create_key(${quoted(key("createaaaaaa"))})`,
      create_webhook: `app.create_webhook(${quoted(hook("we_create0000000000"))})`,
      decide_gate: `app.decide_gate('${gated}', 'only', true)`,
      delete_schedule: "app.delete_schedule('delete')",
      delete_view: "app.delete_view('gone')",
      delete_webhook: "app.delete_webhook('we_delete0000000000')",
      discard_delivery: `app.discard_delivery('${deliveries[1]}')`,
      end_upload: `app.end_upload('${uploads[0]}', '${"ab".repeat(32)}')`,
      enqueue: "app.enqueue('t.none', '{}', 'a key')",
      enqueue_alike: `app.enqueue_alike('t.first_of_its_type', '[{}]')`,
      enqueue_tasks: `app.enqueue_tasks('{"task_type": "t.none", "tasks": [{"parameters": "{}", "key": "another"}]}')`,
      expire_jobs: "app.expire_jobs()",
      expire_tasks: "app.expire_tasks()",
      expire_uploads: "app.expire_uploads('evil', '[]')",
      finish: `app.finish(${w}, '[{"c": ${held.finish.claim_id}, "g": ${held.finish.stage_id}, "a": 1}]',
        '{${held.finish.claim_id}}', '{${held.finish.ordinal}}', '{1}', '[{}]')`,
      forget_upload: `app.forget_upload('${uploads[1]}')`,
      get_upload: `app.get_upload('${uploads[2]}', 600)`,
      forget_asset: "app.forget_asset('silver', 'forget')",
      heartbeat: `app.heartbeat('${json({ worker_id: worker, running: [], claims: [] })}')`,
      host_enter: `app.host_enter('${host}')`,
      host_leave: `app.host_leave('{"slot_id": ${slot}, "outcome": "failed"}')`,
      keep_blueprint: `app.keep_blueprint('${json({ type: "kept2", stages: one_stage("t.none") })}')`,
      leave_file_token: `app.leave_file_token('${json({ place: "silver", token: randomUUID(), seen_as: "here", written_by: "evil" })}')`,
      leave_zone_sweep: `app.leave_zone_sweep('{"zone": "silver", "removed": 1}')`,
      mend_job: `app.mend_job(gen_random_uuid(), 'evil', '${running[1]}')`,
      note_bulk: `app.note_bulk('{"action": "cancel", "filter": {}}')`,
      note_removal: `app.note_removal('${running[1]}', 'why', '{}')`,
      pause_job: `app.pause_job('${running[2]}')`,
      pause_schedule: "app.pause_schedule('pause', true)",
      pause_type: "app.pause_type('t.gated')",
      ping_webhook: "app.ping_webhook('we_ping000000000000')",
      plan_stage: `app.plan_stage(${w}, ${plans.stage})`,
      plan_tasks: `app.plan_tasks(${w}, ${plans.tasks}, 0, '[{"p": {}}]')`,
      plan_done: `app.plan_done(${w}, ${plans.tasks}, 1, 2, null)`,
      purge_job: `app.purge_job('${failed[6]}')`,
      publish_asset: `app.publish_asset(${quoted(file("publish"))})`,
      put_blueprint: `app.put_blueprint(${quoted(saved("saved"))})`,
      put_schedule: `app.put_schedule('{"name": "put", "cron": "* * * * *", "time_zone": "UTC", "job_type": "test_job"}')`,
      put_view: "app.put_view('made', 'status=failed')",
      reap_workers: "app.reap_workers()",
      record_delivery: `app.record_delivery('{"delivery_id": "${deliveries[2]}", "ticket": 1, "error": "no"}')`,
      record_ticks: `app.record_ticks(${schedule}, '[{"tick_at": "2020-01-01T00:00:00Z", "outcome": "missed"}]')`,
      redo_task: `app.redo_task('${done.stage_id}-${done.ordinal}')`,
      register_blueprints: `app.register_blueprints('[${json({ type: "told", stages: one_stage("t.none") })}]')`,
      register_worker: `app.register_worker('${json({ ...facts, worker_id: randomUUID() })}')`,
      release: `app.release(${w}, '[{"c": ${held.release.claim_id}, "o": [${held.release.ordinal}]}]')`,
      remove_blueprint: "app.remove_blueprint('removed')",
      remove_connector: "app.remove_connector('http.request', 'gone')",
      replay_deliveries: `app.replay_deliveries('{"endpoint_id": "we_ping000000000000"}')`,
      replay_delivery: `app.replay_delivery('${deliveries[4]}')`,
      redrive_job: `app.redrive_job('${failed[5]}', '{}')`,
      redrive_lone: "app.redrive_lone('{}')",
      ...(await evilRequests(evil)),
      report_counts: `app.report_counts(${w}, '[["t.own", [1]]]')`,
      reschedule_task: `app.reschedule_task('${await lone()}', now())`,
      resume_job: `app.resume_job('${failed[0]}')`,
      retract_asset: "app.retract_asset('silver', 'retract')",
      retry_group: `app.retry_group('${failed[1]}', '${signature}')`,
      retry_stage: `app.retry_stage('${failed[2]}', 'only')`,
      retry_task: `app.retry_task('${await task_of(failed[3]!)}')`,
      retry_tasks: `app.retry_tasks('${failed[4]}', 'only', '[[0, 1]]')`,
      revoke_key: `app.revoke_key('{"key_id": "revokeaaaaaa"}')`,
      rotate_key: `app.rotate_key('{"key_id": "rotateaaaaaa", "new_key_id": "newaaaaaaaaa", "secret_hash": "${"cd".repeat(32)}"}')`,
      rotate_webhook_secret: "app.rotate_webhook_secret('we_rotate0000000000', 'secret://other')",
      seal_group: "app.seal_group('counted')",
      set_connector: `app.set_connector('${config("made")}')`,
      set_idle: `app.set_idle(${w}, true)`,
      skip_task: `app.skip_task('${await task_of(running[3]!)}', 'why')`,
      skip_tasks: `app.skip_tasks('${await queued()}', 'only', '[[0, 1]]', 'why')`,
      start_due_jobs: "app.start_due_jobs()",
      start_clocks: "app.start_clocks()",
      stop_worker: `app.stop_worker(${w})`,
      submit: `app.submit(${again}, '{"new": 1}')`,
      submit_jobs: `app.submit_jobs(${blueprint}, '{"mode": "force", "jobs": [{"parameters": "{}"}]}')`,
      submit_kept_job: `app.submit_kept_job('${hash}', '{"n": 1}')`,
      submit_kept: `app.submit_kept('${hash}', '{"jobs": [{"parameters": "{}"}]}')`,
      sweep_claims: "app.sweep_claims()",
      sweep_deliveries: "app.sweep_deliveries()",
      sweep_ready: "app.sweep_ready()",
      take_schedule: `app.take_schedule(${schedule}, 1, '2020-01-01T00:00:00Z', '2020-01-01T00:00:00Z', '2020-01-01T00:01:00Z')`,
      take_turn: "app.take_turn('any')",
      take_upload_key: `app.take_upload_key('${uploads[3]}')`,
      take_zone_sweep: "app.take_zone_sweep(0)",
      tell_left_schedules: "app.tell_left_schedules()",
      update_webhook: `app.update_webhook('{"endpoint_id": "we_update0000000000", "description": "other"}')`,
      write_logs: `app.write_logs(${w}, ${lines})`,
      // Not a verb of its own: every row of ready of a stage that has thousands.
      "cancel_job of a wide one": `app.cancel_job('${wide}')`,
    },
  };
}

/** Verbs that a tenant's login may call and that lock nothing for it, and why. */
export const harmless: Record<string, string> = {
  ...Object.fromEntries(
    [
      "arrive_rows",
      "begin_arrival",
      "begin_move",
      "cancel_move",
      "cell_facts",
      "close_for_move",
      "end_arrival",
      "forget_arrival",
      "leave_for_good",
      "number_cell",
      "end_session",
      "add_tenant",
      "change_limits",
      "change_retention",
      "rename_tenant",
      "remove_tenant",
      "open_session",
      "touch_keys",
      "touch_sessions",
      "use_sign_in_link",
    ].map((name) => [name, "the server's alone"]),
  ),
  ...Object.fromEntries(
    [
      "check_closed",
      "fold_counts",
      "fold_rates",
      "refresh_statistics",
      "sample_queues",
      "janitor_begin",
      "janitor_end",
      "platform.mend_plans",
      "retire",
      "retire_again",
    ].map((name) => [name, "done for all, and by no tenant's login"]),
  ),
  ...Object.fromEntries(
    ["due_schedules", "get_limits", "get_webhook", "webhook_target"].map((name) => [name, "reads"]),
  ),
  handler_sql: "a row of its own session, and a statement that has no more rights than any",
};

/** Volatile functions that the login may call, from the grants as they are: one that is new is in none of the two lists. */
export async function verbsOf(db: Queryable, login: string): Promise<string[]> {
  const rows = await db.sql<{ name: string }>`
    select distinct case when p.pronamespace = 'platform'::regnamespace then 'platform.' else '' end || p.proname as name from pg_proc p
     where p.pronamespace in ('app'::regnamespace, 'platform'::regnamespace) and p.provolatile = 'v' and p.prokind = 'f'
       and has_function_privilege(${login}::text, p.oid, 'execute') order by 1`;
  return rows.map(({ name }) => name);
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}
