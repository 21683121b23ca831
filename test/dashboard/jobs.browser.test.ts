// The list of jobs in a real browser: filtered, counted, followed, chosen from and acted upon.
import { expect, test } from "vitest";
import { defineHandler, defineJob } from "../../src/core/declare/declare.js";
import { Permanent } from "../../src/core/errors/errors.js";
import { describeInBrowser } from "./browser.js";

const hostile = `<img src=x onerror="alert(1)">\u202e\u0007`;
/** What people call things has neither marks of direction nor bells: it would be refused. */
const named = hostile.replace("\u202e\u0007", "");
const parts = {
  jobs: [
    defineJob({ type: "tile", stages: [{ name: "cut", task: "t.ok", tasks: { count: 3 } }] }),
    defineJob({ type: "mosaic", stages: [{ name: "join", task: "t.fail" }] }),
    defineJob({ type: "never", stages: [{ name: "wait", task: "t.never" }] }),
  ],
  handlers: [
    defineHandler("t.ok", {}, () => ({ ok: true })),
    defineHandler("t.fail", {}, () => {
      throw new Permanent(`timed out ${hostile}`, { code: "timeout" });
    }),
    defineHandler("t.never", {}, () => null),
  ],
};

describeInBrowser(
  "the list of jobs",
  {
    parts,
    worker: { types: ["t.ok", "t.fail"] },
    async prepare({ engine, key }) {
      await key("globex");
      const ends = [await engine.submit("mosaic", {}, { labels: { "team<b>": named } })];
      for (let n = 0; n < 3; n++) {
        ends.push(await engine.submit("tile", { n }, { labels: { team: "hydro", n: String(n) } }));
      }
      for (const { job_id } of ends) await engine.wait(job_id);
      const items = Array.from({ length: 60 }, (_, n) => ({
        parameters: { n },
        labels: { batch: n < 55 ? "crowd" : "few" },
      }));
      await engine.submitMany("never", items);
    },
  },
  (dashboard) => {
    const row = (name: RegExp) => dashboard.page.locator("tr.job-row").filter({ hasText: name });
    const chip = (name: RegExp) =>
      dashboard.page.getByRole("button", { name, pressed: undefined }).and(dashboard.page.locator(".status-chip"));
    const address = () => new URL(dashboard.page.url()).searchParams.get("q") ?? "";

    test("is filtered by text with completion, by chips that count, and by labels; the address is the state", async () => {
      const page = await dashboard.open("/jobs");
      await row(/never/).first().waitFor();
      const box = page.getByRole("combobox", { name: "Filter jobs" });
      await page.keyboard.press("/");
      await page.locator("[role=combobox]:focus").waitFor();
      await page.keyboard.type("stat");
      await page.getByRole("option", { name: "status:" }).click();
      await expect.poll(() => box.inputValue()).toBe("status:");
      await page.keyboard.type("fai");
      await page.getByRole("option", { name: /^failed/ }).waitFor();
      await page.keyboard.press("ArrowDown");
      await page.keyboard.press("Enter");
      await expect.poll(() => box.inputValue()).toBe("status:failed ");
      await row(/mosaic/).waitFor();
      await expect.poll(() => page.locator("tr.job-row").count()).toBe(1);
      await chip(/completed/)
        .getByText("3")
        .waitFor();
      await chip(/completed/).click();
      await expect.poll(address).toBe("status:failed,completed");
      await expect.poll(() => page.locator("tr.job-row").count()).toBe(4);
      await box.fill("statu:failed");
      await page.keyboard.press("Enter");
      await page.getByText('"statu:" is not known').waitFor();
      await page.getByText('Did you mean "status"?').waitFor();
      await page.getByRole("button", { name: "Clear the filter" }).click();
      await box.fill("type:tile");
      await page.keyboard.press("Enter");
      await expect.poll(() => page.locator("tr.job-row").count()).toBe(3);
      await page.getByRole("button", { name: "n 1" }).click();
      await expect.poll(address).toBe("type:tile label:n=1");
      await expect.poll(() => page.locator("tr.job-row").count()).toBe(1);
      await page.goBack();
      await expect.poll(() => page.locator("tr.job-row").count()).toBe(3);
      await dashboard.axe();
    });

    test("keeps views for the tenant, each a link", async () => {
      const page = await dashboard.open("/jobs?q=type%3Atile%20status%3Acompleted");
      await page.getByRole("button", { name: "Save view" }).click();
      await page.getByLabel("Name").fill("Tiles <done>");
      await page.getByRole("button", { name: "Save", exact: true }).click();
      const link = page.getByRole("link", { name: "Tiles <done>" });
      await link.waitFor();
      await page.getByRole("link", { name: "All", exact: true }).click();
      await row(/never/).first().waitFor();
      await link.click();
      await expect.poll(address).toBe("type:tile status:completed");
      await expect.poll(() => page.locator("tr.job-row").count()).toBe(3);
      await page.getByRole("button", { name: "Delete view" }).click();
      await page.getByRole("dialog").getByRole("button", { name: "Delete", exact: true }).click();
      await link.waitFor({ state: "detached" });
    });

    test("goes on by pages, and back", async () => {
      const page = await dashboard.open("/jobs?q=type%3Anever");
      await expect.poll(() => page.locator("tr.job-row").count()).toBe(50);
      await page.getByRole("button", { name: "Older" }).click();
      await expect.poll(() => page.locator("tr.job-row").count()).toBe(10);
      await page.waitForURL((url) => /^\d+-[0-9a-f]{64}$/.test(url.searchParams.get("next") ?? ""));
      await page.getByRole("button", { name: "Newer" }).click();
      await expect.poll(() => page.locator("tr.job-row").count()).toBe(50);
      await page.waitForURL((url) => !url.searchParams.has("next"));
    });

    test("lets rows stand under the mouse while new jobs come, and shows them when asked", async () => {
      const page = await dashboard.open("/jobs?q=type%3Atile");
      await expect.poll(() => page.locator("tr.job-row").count()).toBe(3);
      await page.getByRole("button", { name: /^Live/ }).waitFor();
      const first = () => page.locator("tr.job-row a").first().getAttribute("href");
      const was_first = await first();
      await page.locator("tr.job-row").nth(1).hover();
      await dashboard.service.engine.submit("tile", { n: "new" });
      const fresh = page.getByRole("button", { name: "1 new job: show" });
      await fresh.waitFor();
      expect(await first()).toBe(was_first);
      await fresh.click();
      await expect.poll(() => page.locator("tr.job-row").count()).toBe(4);
      // What happens to a row is seen without asking: it ends while it is looked at.
      await row(/completed/)
        .nth(3)
        .waitFor();
    });

    test("acts on selected jobs and on all that match, after counting them", async () => {
      const page = await dashboard.open("/jobs?q=label%3Abatch%3Dcrowd");
      await expect.poll(() => page.locator("tr.job-row").count()).toBe(50);
      await page.keyboard.press("j");
      await page.keyboard.press("j");
      await page.keyboard.press("x");
      const bar = page.getByRole("region", { name: "Selected jobs" });
      await bar.getByText("1 selected").waitFor();
      await bar.getByRole("button", { name: "Pause" }).click();
      const dialog = page.getByRole("dialog");
      await dialog.getByText("1 job would be paused").waitFor();
      await dialog.locator("[data-verb=run]").click();
      await dialog.getByText("1 job paused").waitFor();
      await dashboard.closeDialog();
      await row(/paused/).waitFor();
      await page.getByLabel("Select all jobs on this page").check();
      await bar.getByRole("button", { name: "Select all 55 that match" }).click();
      await bar.getByRole("button", { name: "Cancel" }).click();
      await dialog.getByText("55 jobs would be cancelled").waitFor();
      await dashboard.axe();
      await dialog.getByLabel(/^Why/).fill("not needed");
      await dialog.locator("[data-verb=run]").click();
      await dialog.getByText("55 jobs cancelled").waitFor();
      await dashboard.closeDialog();
      await chip(/cancelled/)
        .getByText("55")
        .waitFor();
      const { counts } = await dashboard.service.engine.queries.countJobs({ labels: { batch: "few" } });
      expect(counts.queued).toBe(5);
    });

    test("shows hostile text as text, on a phone too, light and dark", async () => {
      const page = await dashboard.open("/jobs?q=type%3Amosaic", { width: 360 });
      await row(/onerror=/)
        .getByText("<img src=x")
        .first()
        .waitFor();
      expect(await page.locator("main img").count()).toBe(0);
      await dashboard.expectNoSideways();
      await dashboard.axe();
      await dashboard.theme("dark");
      await dashboard.axe(page, ["color-contrast"]);
    });

    test("shows another tenant nothing, and teaches the first command", async () => {
      const page = await dashboard.open("/jobs", { tenant: "globex", scopes: ["read"] });
      await page.getByRole("heading", { name: "No jobs yet" }).waitFor();
      await page.getByText("fanfold submit hello_world --wait").waitFor();
      expect(await page.locator("tr.job-row").count()).toBe(0);
      await dashboard.go("/jobs?q=type%3Atile");
      await page.getByRole("heading", { name: "No job fits this filter" }).waitFor();
      await page.getByRole("button", { name: "Clear the filter" }).last().click();
      await page.getByRole("heading", { name: "No jobs yet" }).waitFor();
      expect(await page.locator("main").innerText()).not.toContain("hydro");
    });

    test("says what a key may not do before it is tried", async () => {
      const page = await dashboard.open("/jobs?q=type%3Amosaic", { scopes: ["read"] });
      await page.getByLabel(/^Select mosaic/).check();
      const cancel = page.getByRole("region", { name: "Selected jobs" }).getByRole("button", { name: "Cancel" });
      expect(await cancel.getAttribute("aria-disabled")).toBe("true");
      expect(await cancel.getAttribute("title")).toContain("scope operate");
    });
  },
);
