// What one tenant does to the others, as far as we know. Each attack goes on until it is over, or until it is let go of.
import { setTimeout as sleep } from "node:timers/promises";
import { openServer } from "../../src/engine/database/server_database.js";
import { bombs } from "../nemesis/faults.js";
import { type Answer, call } from "../nemesis/truth.js";

/** A house as its hostile tenant sees it. `hole`: a receiver that takes every call and answers none. */
export interface Target {
  url: string;
  key: string;
  login_url: string;
  hole: string;
}

type Attack = (target: Target, over: () => boolean) => Promise<unknown>;

/** So many callers at once, each again and again. */
const flood =
  (callers: number, act: (target: Target, n: number) => Promise<unknown>): Attack =>
  (target, over) =>
    Promise.all(
      Array.from({ length: callers }, async (_, caller) => {
        for (let n = caller; !over(); n += callers) await act(target, n).catch(() => sleep(50));
      }),
    );

/** Something is made first, whatever it is answered. */
const after =
  (first: (target: Target) => Promise<unknown>, attack: Attack): Attack =>
  async (target, over) => {
    await first(target).catch((error: unknown) => count(`prepared: ${error}`));
    await attack(target, over);
  };

/** What the house said to it, by call and status: an attack that is refused throughout is none. */
export const told: Record<string, number> = {};

function count(words: string): void {
  told[words] = (told[words] ?? 0) + 1;
}

async function api({ url, key }: Target, method: string, path: string, body?: unknown): Promise<Answer> {
  const answer = await call(`${url}${path.startsWith("/stac") ? "" : "/api"}${path}`, key, method, body);
  count(`${method} ${path.split(/[/?]/)[1]} ${answer.status}`);
  return answer;
}
const ledger = (target: Target, parameters: Record<string, unknown>, more: Record<string, unknown> = {}) =>
  api(target, "POST", "/jobs/submit/ledger", { parameters, ...more });

/** A transaction that is left open, with whatever locks its verbs took. */
async function heldOpen({ login_url }: Target, statements: string[], over: () => boolean): Promise<void> {
  const login = openServer(login_url);
  try {
    await login.transaction(async (tx) => {
      for (const statement of statements) await tx.script(statement);
      while (!over()) await sleep(100);
    });
  } catch {
    // The house may end it: that is its right.
  } finally {
    await login.close();
  }
}

/** With the tenant's own SQL. */
async function asLogin({ login_url }: Target, statement: string): Promise<void> {
  const login = openServer(login_url);
  await login.script(statement).finally(() => login.close());
}

const x = Array.from({ length: 3_000 }, (_, i) => i);
const one_stage = { name: "a", task: "nemesis.sum" };

/** As many parts as a schema may have, each with as many alternatives as it takes to come near the bound of steps. */
const thorough = {
  type: "object",
  properties: {
    list: {
      type: "array",
      items: { anyOf: Array.from({ length: 15 }, (_, n) => ({ type: "string", minLength: n })) },
    },
  },
};

const filter = {
  op: "or",
  args: Array.from({ length: 20 }, (_, n) => ({ op: "like", args: [{ property: "title" }, `%a%b%c%${n}%d%`] })),
};

/** A thousand items of a collection, all with a title that a pattern has to be tried on at every letter. */
async function fillCatalogue(target: Target): Promise<void> {
  const extent = { spatial: { bbox: [[-180, -90, 180, 90]] }, temporal: { interval: [[null, null]] } };
  const collection = {
    type: "Collection",
    id: "evil",
    stac_version: "1.1.0",
    description: "x",
    license: "other",
    links: [],
    extent,
  };
  await api(target, "POST", "/stac/collections", collection);
  const features = Array.from({ length: 1_000 }, (_, n) => ({
    type: "Feature",
    stac_version: "1.1.0",
    id: `i${n}`,
    collection: "evil",
    geometry: { type: "Point", coordinates: [n % 90, n % 45] },
    bbox: [n % 90, n % 45, n % 90, n % 45],
    properties: { datetime: "2030-01-01T00:00:00Z", title: "abcabc".repeat(300) },
    links: [],
    assets: {},
  }));
  await api(target, "POST", "/stac/collections/evil/items", { type: "FeatureCollection", features });
}

export const attacks: Record<string, Attack> = {
  "bombs in blueprints": flood(4, async (target, n) => {
    const bomb = bombs(6)[n % 3];
    await api(target, "PUT", `/blueprints/bomb_${n % 7}`, bomb);
    await api(target, "POST", `/jobs/submit/bomb_${n % 7}`, { parameters: { x, n }, mode: "force" });
  }),
  "plans that grow": flood(4, async (target, n) => {
    const plan = { each: "$.x[*]", parameters: { all: "{parameters}" } };
    await api(target, "PUT", "/blueprints/grows", { stages: [{ ...one_stage, tasks: plan }] });
    await api(target, "POST", "/jobs/submit/grows", {
      parameters: { x: x.slice(0, 300), pad: "y".repeat(200_000), n },
    });
  }),
  "large submits": flood(16, (target, n) =>
    ledger(target, { name: `evil ${n}`, n: 1, ms: 1, pad: "z".repeat(200_000) }),
  ),
  "wide jobs": flood(2, (target, n) => ledger(target, { name: `wide ${n}`, n: 3_000, ms: 150 })),
  "wide jobs of no work": flood(4, (target, n) => ledger(target, { name: `empty ${n}`, n: 20_000, ms: 0 })),
  "chains of a thousand stages": after(
    (target) => {
      const stages = Array.from({ length: 1_000 }, (_, n) => ({ ...one_stage, name: `s${n}` }));
      return api(target, "PUT", "/blueprints/chain", { stages });
    },
    flood(4, (target, n) => api(target, "POST", "/jobs/submit/chain", { parameters: { n }, mode: "force" })),
  ),
  "jobs by the thousand": flood(4, (target, n) => {
    const items = Array.from({ length: 1_000 }, (_, i) => ({ parameters: { name: `many ${n} ${i}`, n: 1, ms: 1 } }));
    return api(target, "POST", "/jobs/submit/ledger/batch", { items });
  }),
  "the same submit from everybody": flood(64, (target) => ledger(target, { name: "the same", n: 1, ms: 1 })),
  "blueprints as large as they may be": flood(8, (target, n) => {
    const stages = Array.from({ length: 900 }, (_, i) => ({
      name: `s${i}`,
      task: `nemesis.${"t".repeat(40)}${n % 3}`,
    }));
    return api(target, "PUT", `/blueprints/large_${n % 20}`, { stages });
  }),
  "schemas that are long to check": after(
    (target) => api(target, "PUT", "/blueprints/thorough", { stages: [one_stage], parameters: thorough }),
    flood(8, (target, n) =>
      api(target, "POST", "/jobs/submit/thorough", {
        parameters: { list: Array.from({ length: 2_000 }, (_, i) => `${n} ${i}`) },
      }),
    ),
  ),
  "schedules of every second": after(
    async (target) => {
      const schedule = `{"name": "tick_' || n || '", "cron": "* * * * * *", "time_zone": "UTC", "job_type": "ledger", "next_at": "' || now() || '",
        "parameters": {"name": "tick ' || n || '", "n": 1, "ms": 1}, "options": {}, "missed": "all"}`;
      await asLogin(target, `select app.put_schedule(('${schedule}')::json) from generate_series(1, 300) n`);
    },
    flood(16, (target) => api(target, "GET", "/schedules?recent=20")),
  ),
  "streams opened and left": flood(16, async ({ url, key }) => {
    const signal = AbortSignal.timeout(300);
    const response = await fetch(`${url}/api/stream`, { headers: { authorization: `Bearer ${key}` }, signal });
    count(`GET stream ${response.status}`);
    await response.text();
  }),
  "lists and searches": flood(16, (target, n) =>
    api(target, "GET", `/jobs?limit=200&q=${encodeURIComponent(`nothing ${n}`)}`),
  ),
  "short questions from everybody": flood(64, (target, n) =>
    api(target, "GET", ["/tasks?limit=200", "/workers", "/blueprints", "/schedules", "/deliveries"][n % 5]!),
  ),
  "searches of the catalogue": after(
    fillCatalogue,
    flood(16, (target) => api(target, "POST", "/stac/search", { filter, "filter-lang": "cql2-json", limit: 1_000 })),
  ),
  "uploads that are never completed": flood(16, async (target, n) => {
    const bytes = 4 * 1024 * 1024;
    const { body } = await api(target, "POST", "/files", { key: `left ${n}`, bytes });
    const headers = { authorization: `Bearer ${target.key}`, "content-type": "application/octet-stream" };
    const part = { method: "PUT", headers, body: Buffer.alloc(bytes, n) };
    const response = await fetch(`${target.url}/api/files/${body.upload_id}/parts/1`, part);
    count(`PUT part ${response.status}`);
    await response.text();
  }),
  "claims of many workers": after(
    (target) => ledger(target, { name: "claimed", n: 100_000, ms: 10 }),
    flood(8, async (target) => {
      const { body } = await api(target, "POST", "/workers/register", {
        types: ["nemesis.item"],
        slots: 100,
        lease_s: 5,
      });
      for (let n = 0; n < 10; n++)
        await api(target, "POST", `/workers/${body.worker_id}/claim`, { limit: 500, wait_s: 1 });
    }),
  ),
  "verbs over many jobs": flood(4, async (target, n) => {
    await ledger(target, { name: `moved ${n}`, n: 5_000, ms: 20 });
    for (const action of ["pause", "continue", "cancel", "resume"])
      await api(target, "POST", "/jobs/bulk", { action, filter: { type: "ledger" }, before: new Date().toISOString() });
  }),
  "a login that holds its job": async (target, over) => {
    const blueprint = `{"type": "held", "stages": [{"name": "s", "task": "nemesis.sum"}]}`;
    await Promise.all(
      ["pause", "cancel"].map((verb) => {
        const job = `select app.submit('${blueprint}', '{"for": "${verb}"}', options => '{"deadline_s": 1}') ->> 'job_id'`;
        return heldOpen(target, [`select app.${verb}_job((${job}))`], over);
      }),
    );
  },
  "a login that holds keys and types": (target, over) =>
    heldOpen(
      target,
      [
        "select app.enqueue('nemesis.sum', '{}', idempotency_key => 'mine')",
        "select app.pause_type('nemesis.item')",
        "select pg_advisory_xact_lock(n) from generate_series(1, 2000) n",
      ],
      over,
    ),
  "webhooks to a receiver that never answers": flood(4, (target, n) =>
    ledger(
      target,
      { name: `told ${n}`, n: 1, ms: 1 },
      { webhooks: [{ url: `${target.hole}/hook`, secret: "secret://none" }] },
    ),
  ),
  "calls of a host that never answers": flood(4, (target, n) =>
    api(target, "POST", "/tasks/enqueue/connector.http.request", { parameters: { url: `${target.hole}/${n}` } }),
  ),
};
