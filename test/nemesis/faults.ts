// What happens to a house. Each fault begins, lasts, and ends as if it had never been; two of them at a time are drawn.
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { DatabaseError, type Queryable } from "../../src/engine/database/database.js";
import { openServer } from "../../src/engine/database/server_database.js";
import type { House, Kept } from "./house.js";
import { call } from "./truth.js";

export interface Chance {
  pick<T>(among: readonly T[]): T;
  ms(least: number, most: number): number;
}

export type Nemesis = (house: House, chance: Chance) => Promise<void>;

/** Again and again until the time is over; what fails on the way (the server is away) is part of it. */
async function meanwhile(ms: number, pause_ms: number, act: () => Promise<unknown> | unknown): Promise<void> {
  for (const over = performance.now() + ms; performance.now() < over; ) {
    await Promise.resolve()
      .then(act)
      .catch((error: unknown) => {
        if (!(error instanceof DatabaseError)) throw error;
      });
    await sleep(pause_ms);
  }
}

/** The one database is not always there: two faults happen at once. */
async function ifThere(act: () => Promise<unknown>): Promise<void> {
  await act().catch((error: unknown) => {
    if (!(error instanceof DatabaseError)) throw error;
  });
}

const freeze = async (victim: Kept, ms: number) => {
  victim.signal("SIGSTOP");
  await sleep(ms);
  victim.signal("SIGCONT");
};

/** One at a time: a server that is down cannot be stopped. */
let at_the_server: Promise<unknown> = Promise.resolve();
const withServer = (act: () => Promise<unknown>) => {
  at_the_server = at_the_server.then(act);
  return at_the_server as Promise<void>;
};

/** What a bomb looks like; the house refuses it, or bounds it. */
export const bombs = (depth: number) => {
  let path = "$.parameters.x[*]";
  for (let level = 0; level < depth; level++) path = `$.parameters.x[*] ? (exists(${path}))`;
  return [
    { stages: [{ name: "a", task: "nemesis.sum", when: `exists(${path})` }] },
    { stages: [{ name: "a", task: "nemesis.sum", tasks: { each: path.replaceAll("$.parameters.x", "$.x") } }] },
    { stages: [{ name: "a", task: "nemesis.sum", tasks: { each: "$.x[*]", parameters: { all: "{parameters}" } } }] },
  ];
};

export const nemeses: Record<string, Nemesis> = {
  "kill -9 of a worker, again and again": (house, { pick, ms }) =>
    meanwhile(ms(4_000, 12_000), 1_500, () => pick(house.workers).signal("SIGKILL")),
  "kill -9 of the server": async (house) => house.server.signal("SIGKILL"),
  "a worker frozen": (house, { pick, ms }) => freeze(pick(house.workers), ms(3_000, 40_000)),
  "the server frozen": (house, { ms }) => freeze(house.server, ms(2_000, 8_000)),
  "Postgres crashed": (house, { ms }) => withServer(() => house.cluster.restart("immediate", ms(0, 4_000))),
  "Postgres restarted": (house, { ms }) => withServer(() => house.cluster.restart("fast", ms(0, 4_000))),
  "eight backends a second ended": (house, { ms }) =>
    meanwhile(
      ms(4_000, 10_000),
      125,
      () => house.database.db.sql`
      select pg_terminate_backend(pid) from pg_stat_activity
       where usename = 'nemesis_server' order by random() limit 1`,
    ),
  "a backend killed": (house) =>
    ifThere(async () => {
      const [row] = await house.database.db.sql<{ pid: number }>`
        select pid from pg_stat_activity where usename = 'nemesis_server' order by random() limit 1`;
      if (row !== undefined) house.cluster.killBackend(row.pid);
    }),
  "connections stalled, delivered late": async (house, { pick, ms }) => {
    const { proxy } = pick(house.processes);
    proxy.stall();
    await sleep(ms(3_000, 30_000));
    proxy.heal();
  },
  "connections that never answer again": async (house, { pick }) => {
    pick(house.processes).proxy.halfOpen();
  },
  "connections reset": (house, { pick, ms }) =>
    meanwhile(ms(3_000, 8_000), 700, () => pick(house.processes).proxy.drop()),
  "cut after a commit": async (house, { pick, ms }) => {
    const { proxy } = pick(house.processes);
    void proxy.cutAfter("app.finish", { times: 3 });
    void proxy.cutAfter("app.submit", { times: 3 });
    await sleep(ms(1_000, 3_000));
  },
  "what handlers call is away": async (house, { ms }) => {
    const file = join(house.dir, "outage");
    writeFileSync(file, "");
    await sleep(ms(5_000, 15_000));
    rmSync(file, { force: true });
  },
  "a tenant's login holds what it can": (house, { ms }) =>
    ifThere(async () => {
      const login = openServer(house.evil_url);
      try {
        await login.transaction(async (tx: Queryable) => {
          const blueprint = '{"type": "held", "deadline_s": 1, "stages": [{"name": "s", "task": "nemesis.sum"}]}';
          const [row] = await tx.sql<{ id: string }>`
            select app.submit(${blueprint}::text::jsonb, jsonb_build_object('at', clock_timestamp()::text)) ->> 'job_id' as id`;
          await tx.sql`select app.pause_job(${row!.id})`;
          await tx.sql`select app.enqueue('nemesis.sum', '{}', idempotency_key => 'held')`;
          await sleep(ms(5_000, 15_000));
        });
      } finally {
        await login.close();
      }
    }),
  "a tenant sends bombs": async (house, { ms }) => {
    const x = Array.from({ length: 3_000 }, (_, i) => i);
    let n = 0;
    await meanwhile(ms(4_000, 10_000), 100, async () => {
      for (const bomb of bombs(6)) {
        const type = `bomb_${n++ % 5}`;
        await call(`${house.url}/api/blueprints/${type}`, house.keys.evil, "PUT", bomb).catch(() => {});
        const body = { parameters: { x, n }, mode: "force" };
        await call(`${house.url}/api/jobs/submit/${type}`, house.keys.evil, "POST", body).catch(() => {});
      }
    });
  },
  "tables rewritten under everybody": (house, { ms }) =>
    meanwhile(ms(3_000, 8_000), 400, () => house.database.db.script("vacuum full app.ready; ")),
  "all connections taken": (house, { ms }) =>
    ifThere(async () => {
      const url = house.evil_url;
      const guests = Array.from({ length: 60 }, () => openServer(url));
      await Promise.allSettled(guests.map((guest) => guest.sql`select 1`));
      await sleep(ms(2_000, 6_000));
      await Promise.all(guests.map((guest) => guest.close()));
    }),
};
