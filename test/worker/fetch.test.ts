// What a worker asks for while tenants share it, by a database that answers as the test says.
import { expect, test } from "vitest";
import type { ClaimedStage, ClaimReply, ClaimRequest } from "../../src/engine/work/commands.js";
import { Fetcher, type FetcherParts } from "../../src/worker/claim/fetch.js";
import { type HeldClaim, Holdings } from "../../src/worker/claim/held.js";
import { TypeSlots } from "../../src/worker/claim/type_slots.js";
import { Stats, Tallies } from "../../src/worker/stats.js";
import { eventually } from "./shop.js";

const slots = 8;

/** A worker whose tasks start where they may and end when the test says so. */
function fetcherOf(answer: (request: ClaimRequest, nth: number) => ClaimReply) {
  const holdings = new Holdings();
  const asked: ClaimRequest[] = [];
  const idle: boolean[] = [];
  let fetcher: Fetcher;
  const running: HeldClaim[] = [];
  const pump = () => {
    for (
      let next = holdings.first(running.length < slots);
      next !== undefined;
      next = holdings.first(running.length < slots)
    ) {
      holdings.start(next);
      running.push(next);
    }
    fetcher.consider();
  };
  const commands = {
    claim: async (_: unknown, request: ClaimRequest) => {
      asked.push(request);
      return answer(request, asked.length);
    },
    set_idle: async (_: unknown, told: { idle: boolean }) => void idle.push(told.idle),
  };
  const parts = {
    worker_id: "w",
    commands,
    holdings,
    stats: new Stats(),
    memory: { typesToClaim: (types: string[]) => types, roomFor: () => undefined, needOf: () => 0, needs: new Map() },
    lease: { lease_ms: 60_000 },
    runner: {
      get occupied() {
        return running.length;
      },
      youngest: () => 0,
      pump,
      last_start_at: 0,
    },
    finisher: { full: false, unanswered: 0, release: async () => {} },
    types: ["call"],
    slots,
    batch_max: 500,
    type_slots: new TypeSlots(),
    poll_s: 600,
    paces: new Map(),
    tallies: new Tallies(),
    resting: () => [],
    hears: () => true,
    onIdle: () => {},
  };
  fetcher = new Fetcher(parts as unknown as FetcherParts);
  const endAll = () => {
    for (const claim of running.splice(0)) holdings.end(claim);
    pump();
  };
  return { fetcher, asked, idle, holdings, running, endAll };
}

const nothing: ClaimReply = { claims: [], stages: [], after_tenant: null };
let claim_id = 0;
const bring = (tenant_id: string, count: number): ClaimReply => {
  const stage_id = tenant_id.length;
  const tasks = Array.from({ length: count }, (_, ordinal): [number, null, null, null] => [ordinal, null, null, null]);
  const stage = { stage_id, tenant_id, task_type: "call", planner: "data", parameters: {} } as unknown as ClaimedStage;
  const claims = [{ claim_id: ++claim_id, stage_id, attempt: 1, crashes: 0, tasks }];
  return { claims, stages: [stage], after_tenant: tenant_id };
};

test("a tenant that has all slots it may have is left out, and the worker listens for others until one of its tasks ends", async () => {
  const { fetcher, asked, idle, holdings, running, endAll } = fetcherOf(({ limit, resting = [] }, nth) => {
    if (nth === 1) return bring("good", 1);
    return resting.includes("evil") ? nothing : bring("evil", limit);
  });
  fetcher.wake();
  await eventually(() => fetcher.is_waiting);
  expect(running.map(({ stage }) => stage.tenant_id)).toEqual(["good", ...Array(6).fill("evil")]);
  expect(holdings.queued).toBeLessThanOrEqual(slots);
  expect(asked.at(-1)).toMatchObject({ limit: 1, resting: ["evil"] });
  expect(idle).toEqual([true]);
  const before = asked.length;
  endAll();
  await eventually(() => asked.length > before);
  expect(asked[before]?.resting).toBeUndefined();
});
