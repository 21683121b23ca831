// Workers, queues and health as an operator sees them, in a real browser before a real service with real workers.
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { defineHandler, defineJob } from "../../src/core/declare/declare.js";
import { Permanent } from "../../src/core/errors/errors.js";
import { Janitor } from "../../src/engine/upkeep/janitor.js";
import type { TestService } from "../server/service.js";
import { describeInBrowser } from "./browser.js";

const hostile = 'the "disk" <img src=x onerror=alert(1)> \u202eis full';
const served = ["t.quick", "t.breaks", "t.held", "#plan"];

/** Tasks of t.held run until they are let go. */
let letGo: () => void = () => {};
const held = new Promise<void>((resolve) => {
  letGo = resolve;
});

const parts = {
  handlers: [
    defineHandler("t.quick", {}, () => ({})),
    defineHandler("t.breaks", {}, () => {
      throw new Permanent("made to fail");
    }),
    defineHandler("t.nobody", {}, () => ({})),
    defineHandler("t.held", {}, async (_, ctx) => {
      ctx.progress({ done: 3, total: 10, message: "tiles" });
      await held;
      return {};
    }),
  ],
  jobs: [
    defineJob({ type: "many", stages: [{ name: "quick", task: "t.quick", tasks: { count: 40 } }] }),
    defineJob({ type: "held", stages: [{ name: "hold", task: "t.held", tasks: { count: 3 } }] }),
    defineJob({ type: "lonely", stages: [{ name: "odd", task: "t.nobody", tasks: { count: 5 } }] }),
  ],
};

const sweep = async ({ db, engine }: TestService) => {
  await db.sql`update app.janitor set last_run_at = null`;
  await db.sql`update app.rate_samples set sampled_at = sampled_at - interval '1 hour'`;
  await new Janitor({ db: engine.db, log: engine.log }).sweep();
};

/** A worker over HTTP that takes what the real one leaves. */
async function edgeWorker({ engine }: TestService): Promise<string> {
  const facts = { types: ["t.nobody"], slots: 2, lease_s: 30, host: "tile-host-7", version: "0.0.1" };
  const { worker_id } = await engine.work.register(facts);
  const { tasks } = await engine.work.claim(worker_id, { limit: 5, known_stages: [] });
  expect(tasks).toHaveLength(5);
  return worker_id;
}

async function fallSilent({ db }: TestService, worker_id: string): Promise<void> {
  await db.sql`update app.workers set heartbeat_at = now() - interval '40 s', started_at = now() - interval '2 hours'
    where worker_id = ${worker_id}::text::uuid`;
}

/** What ended first, then what fills both slots of the worker. */
async function prepare(service: TestService): Promise<void> {
  const { engine, db } = service;
  await engine.submit("lonely", {});
  await engine.submit("many", {});
  await engine.enqueueMany("t.breaks", [{ parameters: {} }, { parameters: { n: 1 } }]);
  await until(async () => (await db.sql`select from app.results`).length === 42);
  await engine.submit("held", {});
  await until(async () => (await db.sql`select from app.workers where jsonb_array_length(running) = 2`).length === 1);
  await sweep(service);
  await db.sql`
    insert into app.events (tenant_id, kind, reason, data) values ('default', 'alert.task_overdue', ${hostile}, '{}')`;
}

async function until(holds: () => Promise<boolean>): Promise<void> {
  while (!(await holds())) await new Promise((resolve) => setTimeout(resolve, 50));
}

describeInBrowser(
  "workers, queues and health",
  { parts, worker: { slots: 2, types: served, lease_s: 9 }, prepare },
  (dashboard) => {
    const told = (page: Page, name: string) => page.locator(`[data-told=${name}]`);

    test("a worker shows its slots and what it runs; one that stops answering is gone, and what it held went back", async () => {
      const page = await dashboard.open("/workers");
      const live = page.locator(".worker[data-state=live]");
      await live.getByText("2 of 2").waitFor();
      await live.getByRole("button", { name: "Show its tasks (2)" }).click();
      const tasks = live.getByRole("list", { name: "Its tasks" });
      await tasks.getByText("3 of 10, tiles").first().waitFor();
      expect(await tasks.getByRole("link").first().getAttribute("href")).toMatch(/^\/tasks\/\d+-\d$/);
      const worker_id = await edgeWorker(dashboard.service);
      const edge = page.locator(`[data-worker="${worker_id}"]`);
      await edge.getByText("+ 5 waiting in it").waitFor();
      await edge.getByRole("heading", { name: "tile-host-7" }).waitFor();
      await page.getByText("Workers run different versions").waitFor();
      await dashboard.axe();
      await fallSilent(dashboard.service, worker_id);
      await sweep(dashboard.service);
      await page.getByText("stopped answering; 5 tasks go to other workers").waitFor();
      await edge.waitFor({ state: "detached" });
      await told(page, "summary").getByText("1 live worker · 2 of 2 slots at work").waitFor();
    });

    test("queues: the one that nobody serves first, charts from the first look on, and a pause with its reason", async () => {
      const page = await dashboard.open("/queues");
      const row = (name: string) => page.getByRole("row").filter({ hasText: name });
      await row("t.nobody").getByText("no live worker registers it").waitFor();
      await expect.poll(() => page.locator("tbody tr").first().innerText()).toContain("t.nobody");
      await row("t.quick").getByRole("img", { name: "Completed in the last hour: 40" }).waitFor();
      await row("t.breaks").getByRole("img", { name: "Failed in the last hour: 2" }).waitFor();
      await row("t.quick").getByRole("button", { name: "Pause t.quick" }).click();
      const dialog = page.getByRole("dialog", { name: "Pause t.quick" });
      await dialog.getByText("0 tasks of it would wait.").waitFor();
      await dialog.getByLabel("Why").fill(hostile);
      await dialog.getByText("The same on the command line").click();
      await dialog.getByText("fanfold pause --type t.quick --reason").waitFor();
      await dialog.getByRole("button", { name: "Pause it" }).click();
      await dialog.getByText("Paused: 0 tasks of it wait.").waitFor();
      await dashboard.closeDialog();
      await row("t.quick").getByText("<img src=x onerror=alert(1)>").waitFor();
      await dashboard.axe();
      await row("t.quick").getByRole("button", { name: "Continue t.quick" }).click();
      await page.getByRole("button", { name: "Continue it" }).click();
      await page.getByText("It goes on").waitFor();
    });

    test("health tells the verdict, checks, figures and the janitor's story, and an alert as it comes", async () => {
      const page = await dashboard.open("/health");
      await told(page, "verdict").getByText("Everything is as it should be").waitFor();
      await page.locator("[data-sign=connections]").waitFor();
      await page.getByText("Shares of tenants").waitFor();
      await page.locator(".checks li").first().waitFor();
      await page
        .getByRole("list", { name: "What the janitor did" })
        .getByText("Took 5 tasks of stage odd back from worker")
        .waitFor();
      const alerts = page.getByRole("list", { name: "Alerts" });
      await alerts.getByText("<img src=x onerror=alert(1)>").waitFor();
      await dashboard.service.db.sql`
      insert into app.events (tenant_id, kind, reason, data) values ('default', 'alert.ledger', 'a stage did not add up', '{}')`;
      await alerts.getByText("a stage did not add up").waitFor();
      await dashboard.axe();
    });

    test("another tenant sees nothing of it, and who does not run the service is told so", async () => {
      const page = await dashboard.open("/queues", { tenant: "rival", operator: false, scopes: ["read"] });
      await page.getByText("Nothing waits, runs, or ran within the last 24 hours").waitFor();
      await dashboard.go("/workers");
      await page.getByText("0 of 2 slots at work").waitFor();
      expect(await page.locator("main").innerText()).not.toContain("tile-host-7");
      await dashboard.go("/health");
      await page.getByText("sign in with an operator's key").waitFor();
      await page.getByText("It has had nothing to do for this tenant.").waitFor();
      await page.getByText("No alert, ever.").waitFor();
    });

    test("all three are usable on a phone, in the dark", async () => {
      const page = await dashboard.open("/workers", { theme: "dark", width: 360 });
      for (const [path, there] of [
        ["/workers", ".worker"],
        ["/queues", "tbody tr"],
        ["/health", "[data-sign=size]"],
      ] as const) {
        await dashboard.go(path);
        await page.locator(there).first().waitFor();
        await dashboard.expectNoSideways();
        await dashboard.axe();
      }
      letGo();
    });
  },
);
