// Two tenants on one service, doing 200 things in random order through every door, each also naming what is the other's:
// neither sees, guesses or touches anything of the other, and what is the other's looks like what never was.
import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import type { Client } from "../../src/client/index.js";
import { defineHandler, defineJob } from "../../src/core/declare/declare.js";
import { openServer } from "../../src/engine/database/server_database.js";
import { random } from "../core/random_values.js";
import { realServer } from "../postgres.js";
import { openService, type TestService } from "./service.js";
import { type Chance, type Deed, deeds, neverId, pick } from "./tenant_deeds.js";
import { type Door, masked, type Outcome, Side } from "./tenant_side.js";
import type { Walk } from "./tenant_things.js";
import { walks } from "./tenant_walks.js";

const seed = Number(process.env.FANFOLD_TEST_SEED ?? Math.floor(Math.random() * 2 ** 31));
const parameters = z.object({ n: z.int(), v: z.int(), probe: z.int().optional() });
const jobs = [
  defineJob({ type: "plain", parameters, stages: [{ name: "a", task: "t.a", tasks: { count: 2 } }] }),
  defineJob({
    type: "gated",
    parameters,
    stages: [
      { name: "a", task: "t.a", tasks: { count: "{parameters.n}" } },
      { name: "checked", task: "t.checked", gate: "Is it right?" },
      { name: "fold", task: "t.fold", parallelism: "fan_in" },
    ],
  }),
];

let service: TestService;
let sides: [Side, Side];
const logins: string[] = [];

beforeAll(async () => {
  service = await openService({
    jobs,
    handlers: ["t.a", "t.checked", "t.fold", "t.lone"].map((name) => defineHandler(name, {}, () => null)),
  });
  const suffix = Math.random().toString(36).slice(2, 8);
  const make = async (tenant: string) => {
    const key = await service.key(tenant);
    const login = `ff_${tenant}_${suffix}`;
    logins.push(login);
    await service.db.script(`create role ${login} login; grant fanfold_api, fanfold_worker to ${login}`);
    await service.db.sql`select app.map_role(${login}::text::name, ${tenant}::text)`;
    const url = new URL(service.database_url);
    url.username = login;
    return new Side(service, tenant, `zq${tenant.slice(0, 2)}${suffix}`, key, openServer(url.href));
  };
  const [acme, globex] = [await make("acme"), await make("globex")];
  acme.other = globex;
  globex.other = acme;
  sides = [acme, globex];
});

afterAll(async () => {
  for (const { db } of sides ?? []) await db.close();
  await service?.close();
  const admin = openServer((await realServer()).admin_url);
  for (const login of logins) await admin.script(`drop role if exists ${login}`);
  await admin.close();
});

async function walk(side: Side, one: Walk, chance: Chance): Promise<string> {
  const door = pick(chance, Object.keys(one.doors) as Door[]);
  const outcome = await one.doors[door]!(side, chance);
  side.assertClean(outcome, null);
  return `${one.name} over ${door}: ${outcome.refused ?? "done"}`;
}

/** On its own thing, on the other's, or on a shortened id of the other's. */
async function act(side: Side, one: Deed, chance: Chance): Promise<string | null> {
  const door = pick(chance, Object.keys(one.doors) as Door[]);
  const perform = one.doors[door]!;
  const foreign = chance() < 0.5;
  const known = [...(foreign ? side.other : side).owned[one.kind]];
  if (known.length === 0) return null;
  const whole_id = pick(chance, known);
  const id = foreign && one.kind === "job" && chance() < 0.3 ? whole_id.slice(0, 16) : whole_id;
  const outcome = await perform(side, id);
  if (!foreign) {
    side.assertClean(outcome, null);
    expect([null, "not_allowed_now", "conflict", "bad_request"], outcome.text).toContain(
      outcome.refused === one.refusal && isPartOfThing(one) ? null : outcome.refused,
    );
    if (one.removes && outcome.refused === null) side.owned[one.kind].delete(id);
    if (["submit saved", "run schedule"].includes(one.name) && outcome.refused === null)
      side.owned.job.add(outcome.value.job_id);
    return `${one.name} over ${door}: ${outcome.refused ?? "done"}`;
  }
  side.assertClean(outcome, id);
  expect(outcome.refused, outcome.text).toBe(one.refusal);
  const never = neverId(one.kind).slice(0, one.kind === "job" ? id.length : undefined);
  expect(said(outcome, id), "the other's thing looks like one that never was").toBe(
    said(await perform(side, never), never),
  );
  return `${one.name} of the other over ${door}: ${outcome.refused}`;
}

/** The thing is there and is the tenant's own; what is asked for in it may not be. */
function isPartOfThing({ name }: Deed): boolean {
  return ["retry group", "asset", "approve", "reject"].includes(name);
}

function said({ text }: Outcome, id: string): string {
  return masked(text, id);
}

test(`two tenants see, guess and touch nothing of each other (seed ${seed})`, async () => {
  const chance = random(seed);
  const all_walks = walks(jobs);
  const positions = await Promise.all(sides.map(({ client }) => positionNow(client)));
  const done: string[] = [];
  const over = (door: string): string[] => done.filter((one) => one.includes(`over ${door}:`));
  // Chance may leave a door out for long: it goes on until each was tried, and on the other's things too.
  const tried = (door: string): boolean =>
    over(door).length > 20 && over(door).some((one) => one.includes("of the other"));
  for (let step = 0; done.length < 200 || !["http", "sdk", "sql"].every(tried); step++) {
    expect(step, "steps until every door was tried").toBeLessThan(2000);
    const side = pick(chance, sides);
    // A beginning in which things come into being.
    const is_walk = step < 30 || chance() < 0.4;
    const chosen = is_walk ? pick(chance, step < 30 ? all_walks.slice(0, 14) : all_walks) : pick(chance, deeds);
    try {
      const told = "kind" in chosen ? await act(side, chosen, chance) : await walk(side, chosen, chance);
      // There may be nothing yet to do it to.
      if (told !== null) done.push(`${side.tenant}: ${told}`);
    } catch (error) {
      const what = `step ${step}, ${side.tenant}: ${chosen.name} (repeat with FANFOLD_TEST_SEED=${seed})`;
      throw new Error(`${what}\n${(error as Error).message}`, { cause: error });
    }
  }
  for (const [place, side] of sides.entries()) await expectOwnEvents(side, positions[place]!);
  await expectTheModel();
});

/** As a superuser counts them, each tenant has what its model says and no more. */
async function expectTheModel(): Promise<void> {
  for (const side of sides) {
    const [counted] = await service.db.sql<{ jobs: number; lone: number; keys: number; foreign: number }>`
      select
        (select count(*)::integer from app.jobs where tenant_id = ${side.tenant}) as jobs,
        (select count(*)::integer from app.tasks t join app.stages s using (tenant_id, stage_id)
          where t.tenant_id = ${side.tenant} and s.job_id is null and s.task_type = 't.lone') as lone,
        (select count(*)::integer from app.api_keys where tenant_id = ${side.tenant} and name <> 'test') as keys,
        (select count(*)::integer from app.events where tenant_id = ${side.tenant}
          and (reason like ${`%${side.other.marker}%`} or data::text like ${`%${side.other.marker}%`})) as foreign`;
    expect([side.tenant, counted]).toEqual([
      side.tenant,
      { jobs: side.owned.job.size, lone: side.owned.task.size, keys: side.owned.key.size, foreign: 0 },
    ]);
  }
}

/** Where the stream stands: what happens from now on is told to whoever asks for what came after. */
async function positionNow(client: Client): Promise<string> {
  return new Promise((resolve, reject) => {
    const opened = new AbortController();
    const on_open = (position: string) => {
      resolve(position);
      opened.abort();
    };
    client.stream({ signal: opened.signal, on_open }).next().catch(reject);
  });
}

/** All that happened since, read in one go up to a job submitted for the purpose. */
async function expectOwnEvents(side: Side, last_event_id: string): Promise<void> {
  const last = await side.client.submit("plain", { n: 1, v: 99 });
  side.owned.job.add(last.job_id);
  let told = 0;
  for await (const one of side.client.stream({ last_event_id })) {
    if (one.type !== "event") continue;
    const { job_id } = one.event;
    side.assertClean({ refused: null, value: one, text: JSON.stringify(one) }, null);
    if (job_id !== null) expect(side.owned.job).toContain(job_id);
    told++;
    if (job_id === last.job_id) break;
  }
  expect(told).toBeGreaterThan(5);
}
