import { expect, test } from "vitest";
import { defineHandler } from "../../src/core/declare/declare.js";
import { DatabaseError } from "../../src/engine/database/database.js";
import type { FinishRequest } from "../../src/engine/work/commands.js";
import { UNANSWERED_BYTES } from "../../src/worker/finish/finish.js";
import { LogBudget } from "../../src/worker/run/logs.js";
import { accepted, openRig } from "./rig.js";
import { eventually, gate } from "./shop.js";

test("nothing starts while too many bytes of results are unanswered, and an answer lets it go on", async () => {
  const { passed, open } = gate();
  let runs = 0;
  const large = defineHandler("large", {}, () => {
    runs++;
    return "x".repeat(300_000).match(/.{900}/g);
  });
  const rig = openRig({ handlers: [large], slots: 2, finish: () => passed.then(() => accepted) });
  rig.hold(1, "large", 200);
  rig.runner.pump();
  await eventually(() => rig.finisher.full);
  // A turn is over, and with it every reason to wait but the bytes.
  await new Promise((resolve) => setTimeout(resolve, 50));
  rig.runner.pump();
  expect(runs).toBeLessThan(200);
  expect(rig.finisher.unanswered_bytes).toBeLessThan(UNANSWERED_BYTES + 2_000_000);
  open();
  await eventually(() => runs === 200);
  await rig.finisher.drained();
  expect(rig.finisher.unanswered_bytes).toBe(0);
  expect(rig.holdings.claims.size).toBe(0);
});

test("a finish carries at most about four megabytes, of failures too", async () => {
  const sizes: number[] = [];
  const finish = (request: FinishRequest) => {
    sizes.push(request.failed.length);
    return Promise.resolve(accepted);
  };
  const rig = openRig({ finish });
  const claim = rig.ran(1, 1000);
  const failure = { d: 1, category: "permanent", code: "bad", message: "no", detail: { stack: "s".repeat(8000) } };
  for (let o = 0; o < 1000; o++) rig.finisher.failed(claim, { c: 1, o, ...failure });
  await rig.finisher.drained();
  expect(Math.max(...sizes)).toBeLessThan(4_300_000);
  expect(sizes.length).toBeGreaterThan(1);
});

test("a database that answers everything but a finish is given up after about a lease", async () => {
  const finish = () => Promise.reject(new DatabaseError("42883", "function app.finish does not exist"));
  const rig = openRig({ finish, lease_ms: 400 });
  const beats = setInterval(() => rig.lease.renew(performance.now()), 50);
  rig.finisher.done(rig.ran(1, 1), 0, 1, "null", null);
  await rig.finisher.drained();
  clearInterval(beats);
  expect(rig.stale).toEqual([expect.stringContaining("finish")]);
  expect(rig.stats.dropped).toBe(1);
});

test("a lost connection alone is no reason to give up before the lease ends", async () => {
  let tries = 0;
  const finish = () => {
    return ++tries > 4
      ? Promise.resolve(accepted)
      : Promise.reject(new DatabaseError("08006", "the connection was lost"));
  };
  // The lease is short, but renewed: what counts as patience must not run out meanwhile.
  const rig = openRig({ finish, lease_ms: 200 });
  const beats = setInterval(() => rig.lease.renew(performance.now()), 20);
  rig.finisher.done(rig.ran(1, 1), 0, 1, "null", null);
  await rig.finisher.drained();
  clearInterval(beats);
  expect(rig.stale).toEqual([]);
  expect(tries).toBe(5);
});

test("a hand-back the database refuses is not sent again", async () => {
  let tries = 0;
  const release = () => {
    tries++;
    return Promise.reject(new DatabaseError("22P02", "invalid input"));
  };
  const rig = openRig({ release });
  rig.hold(1, "none", 2);
  await rig.finisher.release(rig.holdings.takeFromEnd(2));
  expect(tries).toBe(1);
  expect(rig.holdings.claims.size).toBe(0);
});

test("log lines survive a finish that has to be divided, and are written before their tasks end", async () => {
  const said: string[] = [];
  const rig = openRig({
    finish: (request) => {
      if (request.done.results.includes("poison")) return Promise.reject(new DatabaseError("22P05", "cannot store"));
      said.push(`finish ${request.done.ordinals} ${request.logs}`);
      return Promise.resolve(accepted);
    },
    write_logs: async ({ lines }) => said.push(`lines ${JSON.parse(lines).length}`),
  });
  const claim = rig.ran(1, 4);
  for (let o = 0; o < 4; o++) {
    rig.logs.add(claim, o, new LogBudget(), "info", `line ${o}`, undefined);
    rig.finisher.done(claim, o, 1, o === 2 ? '"poison"' : "1", null);
  }
  await rig.finisher.drained();
  expect(said[0]).toBe("lines 4");
  expect(said.slice(1)).toEqual(["finish 0,1 []", "finish  []", "finish 3 []"]);
});

test("log lines the database cannot take do not cost their task its result", async () => {
  const done: string[] = [];
  const refuse = () => Promise.reject(new DatabaseError("22P05", "cannot store"));
  const rig = openRig({
    finish: (request) => {
      if (request.logs !== "[]") return refuse();
      done.push(request.done.ordinals);
      return Promise.resolve(accepted);
    },
    write_logs: refuse,
  });
  const claim = rig.ran(1, 1);
  rig.logs.add(claim, 0, new LogBudget(), "info", "poison", undefined);
  rig.finisher.done(claim, 0, 1, "1", null);
  await rig.finisher.drained();
  expect(done).toEqual(["0"]);
});
