// What people do with the dashboard, from beginning to end, on a real service with real workers: submit and watch, see a worker die and
// its task recover, repair what failed, decide at a gate; and what they must never see: anything of another tenant.
import { createServer } from "node:net";
import type { Page } from "playwright-core";
import { expect, onTestFinished, test } from "vitest";
import { createApp } from "../../src/server/app.js";
import type { Service } from "../../src/server/service.js";
import { describeInBrowser } from "./browser.js";
import { builtDashboard } from "./built.js";
import { fragile_handler, fragile_job, startKillableWorker } from "./killable_worker.js";
import { mending, world_parts, world_types } from "./world.js";

const parts = {
  jobs: [...world_parts.jobs, fragile_job],
  handlers: [...world_parts.handlers, fragile_handler],
};

describeInBrowser(
  "a walk through the dashboard",
  { parts, worker: { types: world_types, slots: 8, lease_s: 5 } },
  (dashboard) => {
    const submit = (type: string, parameters: Record<string, unknown>, tenant = "default", more = {}) =>
      dashboard.service.engine
        .forTenant(tenant)
        .submit(type, parameters, more)
        .then(({ job_id }) => job_id);
    const verdict = (page: Page, words: RegExp) => page.locator("[data-verdict]").filter({ hasText: words }).waitFor();
    const confirm = async (page: Page) => {
      await page.locator("dialog[open] [data-verb=run]").click();
      // What it was about may be gone with it: then the dialog is, too.
      await page.locator("dialog[open] [data-verb=run]").waitFor({ state: "detached" });
      await page.keyboard.press("Escape");
      await page.locator("dialog[open]").waitFor({ state: "detached" });
    };

    test("a job is submitted by the form, after a dry run, and watched until it has ended, without a reload", async () => {
      mending.done = true;
      const page = await dashboard.open("/submit");
      await page
        .getByRole("link", { name: /land_cover/ })
        .first()
        .click();
      await page.getByRole("textbox", { name: /region/i }).fill("Jura");
      await page
        .getByRole("spinbutton", { name: /tiles/i })
        .or(page.getByRole("textbox", { name: /tiles/i }))
        .first()
        .fill("24");
      await page.getByRole("button", { name: "Dry run" }).click();
      await page.getByText(/would/i).first().waitFor();
      expect(await dashboard.service.db.sql`select from app.jobs where job_type = 'land_cover'`).toHaveLength(0);
      await page.getByRole("button", { name: "Submit", exact: true }).click();
      await page.waitForURL(/\/jobs\/[0-9a-f]{8,}/);
      const loaded_at = await page.evaluate("performance.timeOrigin");
      await verdict(page, /complete/i);
      expect(await page.evaluate("performance.timeOrigin")).toBe(loaded_at);
      await page.getByText("24 of 24 completed").first().waitFor();
    });

    test("what happens elsewhere is seen as it happens, and a pause stops that", async () => {
      mending.done = true;
      const page = await dashboard.open("/jobs");
      await page.getByRole("button", { name: /^Live/ }).waitFor();
      const job_id = await submit("land_cover", { region: "Vosges", tiles: 12 });
      await page
        .locator(`a[href*="${job_id.slice(0, 8)}"]`)
        .first()
        .waitFor();
      await page.getByRole("button", { name: /^Live/ }).click();
      await page.getByRole("button", { name: /^Paused/ }).waitFor();
      await page.getByRole("button", { name: /^Paused/ }).click();
      await page.getByRole("button", { name: /^Live/ }).waitFor();
    });

    test("a worker is killed, which is told, and its task is recovered by another", async () => {
      const { server_url: database_url, storage_dir } = dashboard.service;
      const victim = await startKillableWorker({ database_url, storage_dir, holds: true });
      onTestFinished(() => void victim.kill("SIGKILL"));
      const job_id = await submit("fragile", { by: "walk" });
      const page = await dashboard.open(`/jobs/${job_id}`);
      await page.getByRole("heading", { level: 1 }).getByText("running").waitFor();
      victim.kill("SIGKILL");
      const { tasks } = await dashboard.service.engine.tasks({ job_id });
      const tab = await dashboard.tab(`/tasks/${tasks[0]!.task_id}`);
      await tab.getByText("lost its worker").first().waitFor();
      const heir = await startKillableWorker({ database_url, storage_dir, holds: false });
      onTestFinished(() => void heir.kill("SIGKILL"));
      await verdict(page, /complete/i);
      await tab.getByText("completed").first().waitFor();
    });

    test("one group of errors is retried, then the job is resumed, then a stage is run again", async () => {
      mending.done = false;
      const job_id = await submit("station_import", { stations: 80, day: "2031-05-14" });
      const ended = (epoch: number, status: string) =>
        expect.poll(() => dashboard.service.engine.status(job_id)).toMatchObject({ epoch, status });
      const page = await dashboard.open(`/jobs/${job_id}/errors`);
      await verdict(page, /failed/i);
      const groups = page.locator("[data-signature]");
      await expect.poll(() => groups.count()).toBe(3);
      mending.done = true;
      await groups.first().getByRole("button", { name: "Retry this group" }).click();
      await confirm(page);
      await expect.poll(() => groups.count()).toBe(2);
      // The rest stays failed: before that is told again, there is nothing to resume.
      await ended(2, "failed");
      await page.locator("h1").getByText("epoch 2").waitFor();
      await verdict(page, /failed/i);
      await page.getByRole("button", { name: "Resume", exact: true }).click();
      await confirm(page);
      await verdict(page, /complete/i);
      await ended(3, "completed");
      await page.getByRole("button", { name: "Retry a stage" }).click();
      await confirm(page);
      await ended(4, "completed");
      await page.locator("h1").getByText("epoch 4").waitFor();
      await verdict(page, /complete/i);
    });

    test("a gate is approved, and the job goes on", async () => {
      const job_id = await submit("replace_index", { version: "walk" });
      const page = await dashboard.open(`/jobs/${job_id}`);
      await page.getByText("Replace the public index by the new one?").first().waitFor();
      await page.getByRole("button", { name: "Approve" }).first().click();
      await page.getByRole("textbox", { name: /Why/ }).fill("looked at it");
      await confirm(page);
      await verdict(page, /complete/i);
      const events = await dashboard.service.engine.events(job_id);
      expect(JSON.stringify(events)).toContain("looked at it");
    });

    test("a tenant sees nothing of another, not even after another has signed in with the same browser", async () => {
      const secret = "zzsecretzz";
      const labels = { owner: secret };
      await dashboard.service.key("globex-walk");
      const job_id = await submit("soil_samples", { site: secret }, "globex-walk", { labels });
      const page = await dashboard.open("/jobs", { tenant: "globex-walk" });
      await page.getByText(secret).first().waitFor();
      await dashboard.go(`/jobs/${job_id}/parameters`);
      await page.getByText(secret).first().waitFor();
      await page.getByRole("button", { name: "Sign out" }).click();
      await page.getByLabel("API key").fill(await dashboard.service.key("acme-walk"));
      await page.getByRole("button", { name: "Sign in" }).click();
      await page.getByText("acme-walk").first().waitFor();
      dashboard.allow(/404 GET .*\/api\//);
      for (const path of [
        "/jobs",
        `/jobs/${job_id}`,
        `/jobs/${job_id}/tasks`,
        "/tasks",
        "/workers",
        "/queues",
        "/audit",
        "/keys",
      ]) {
        await dashboard.go(path);
        await page.locator(".skeleton").first().waitFor({ state: "detached" });
        const seen = await page.evaluate<string>(
          "document.documentElement.outerHTML + JSON.stringify({ ...localStorage }) + JSON.stringify({ ...sessionStorage })",
        );
        expect(seen.includes(secret), `${path} tells of another tenant`).toBe(false);
        expect(seen.includes("globex-walk"), `${path} names another tenant`).toBe(false);
      }
    });

    test("six tabs share one stream", async () => {
      const first = await dashboard.open("/jobs");
      const tabs = [first];
      for (const path of ["/jobs", "/workers", "/queues", "/health", "/jobs"]) tabs.push(await dashboard.tab(path));
      for (const tab of tabs) await tab.getByRole("button", { name: /^(Live|Paused)/ }).waitFor();
      const { places } = (dashboard.service.app as unknown as { service: Service }).service;
      await expect.poll(() => places.taken).toBe(1);
      const job_id = await submit("replace_index", { version: "six tabs" });
      await first.bringToFront();
      for (const tab of [first, tabs[5]!])
        await tab
          .locator(`a[href*="${job_id.slice(0, 8)}"]`)
          .first()
          .waitFor();
      expect(places.taken).toBe(1);
    });

    test("all of it works under a base path, behind a proxy that leaves the path as it is", async () => {
      const port = await freePort();
      const origin = `http://127.0.0.1:${port}`;
      dashboard.allow(new RegExp(`a request to elsewhere: ${origin}/ops/fold/`));
      const { engine } = dashboard.service;
      const app = createApp({
        engine,
        public_url: `${origin}/ops/fold`,
        dashboard_folder: await builtDashboard(),
      });
      await app.listen({ port, host: "127.0.0.1" });
      try {
        const context = await dashboard.browser(null);
        const page = await context.newPage();
        await page.goto(`${origin}/ops/fold/workers`);
        await page.getByLabel("API key").fill(await dashboard.service.key("acme-walk"));
        await page.getByRole("button", { name: "Sign in" }).click();
        await page.waitForURL(`${origin}/ops/fold/workers`);
        await page.getByRole("button", { name: /^Live/ }).waitFor();
        await page.getByRole("link", { name: "Queues" }).click();
        await page.waitForURL(`${origin}/ops/fold/queues`);
        await page.getByRole("heading", { name: "Queues", level: 1 }).waitFor();
        await page.reload();
        await page.getByRole("heading", { name: "Queues", level: 1 }).waitFor();
        expect(await context.cookies()).toMatchObject([{ path: "/ops/fold", httpOnly: true }]);
        await context.close();
      } finally {
        await app.close();
      }
    });
  },
);

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  const { port } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  return port;
}
