// The page of a job as an operator uses it: watched while it runs, paused, approved, repaired by error group, and safe whatever
// stands in it.
import { expect, test } from "vitest";
import { describeInBrowser } from "./browser.js";
import { hostile_name, Scene, scene_parts, served_types, turnstile } from "./job_scene.js";

describeInBrowser(
  "the page of a job",
  { parts: scene_parts, worker: { types: served_types, slots: 4 } },
  (dashboard) => {
    const scene = new Scene(() => dashboard.service);
    const verdict = () => dashboard.page.locator("[data-verdict]");
    const card = (number: number) => dashboard.page.locator(`[data-stage="${number}"]`);
    const button = (name: string) => dashboard.page.getByRole("button", { name, exact: true });
    const dialog = () => dashboard.page.getByRole("dialog");
    const act = () => dashboard.page.locator("[data-verb=run]").click();
    const close = () => dashboard.closeDialog();

    test("is watched live, paused and continued with a reason, approved in place, and ends", async () => {
      const job_id = await scene.atlas("slow", 12, { labels: { team: "hydro" } });
      const page = await dashboard.open(`/jobs/${job_id}`);
      await verdict().getByText("Stage 2 of 5 · 0 of 12 done").waitFor();
      turnstile.let(5);
      await verdict().getByText("5 of 12 done").waitFor();
      await card(2).getByText("5 of 12 done").waitFor();
      await card(3).locator(".stage-status").getByText("completed").waitFor();

      await button("Pause").click();
      await dialog().getByText("what runs may finish").last().waitFor();
      await dialog().getByLabel(/^Why/).fill("it's full");
      await dialog().getByText("The same on the command line").click();
      await dialog()
        .getByText(`fanfold pause ${job_id.slice(0, 12)} --reason 'it'\\''s full'`)
        .waitFor();
      const curl = dialog().getByText(`${dashboard.url}/api/jobs/${job_id}/pause`);
      await expect.poll(() => curl.textContent()).toContain("Bearer $FANFOLD_KEY");
      await act();
      await close();
      await verdict()
        .getByText(/^Paused by .*: it's full/)
        .waitFor();
      await page.getByRole("heading", { name: "Job paused" }).waitFor();
      expect((await scene.engine.status(job_id)).pause_reason).toBe("it's full");
      // From the panel that says why it waits.
      await page.getByRole("button", { name: `Continue job ${job_id.slice(0, 12)}` }).click();
      await act();
      await close();
      turnstile.let(7);

      await verdict().getByText("Stage 5 of 5 (publish) waits for approval: Do the tiles look right?").waitFor();
      await card(5).getByRole("button", { name: "Approve" }).click();
      await act();
      await close();
      await verdict()
        .getByText(/^Completed in /)
        .waitFor();
      await page.getByText("12 cogs").waitFor();
      expect(await page.getByRole("link", { name: "https://maps.example/atlas" }).getAttribute("rel")).toContain(
        "noopener",
      );
      await page.getByText("9007199254740991").waitFor();
      await dashboard.axe();

      await page.getByRole("link", { name: "Events" }).click();
      await page.locator("[data-kind='stage.approved']").waitFor();
      await page.locator("[data-kind='job.paused'] blockquote").getByText("it's full").waitFor();
      await button("The job").click();
      await page.locator("[data-kind='stage.approved']").waitFor({ state: "detached" });
      await page.waitForURL((url) => url.search === "?kind=job");
      await dashboard.axe();
    });

    test("groups failures, and runs one group again", async () => {
      const job_id = await scene.ended("broken", 20);
      const page = await dashboard.open(`/jobs/${job_id}`);
      await verdict()
        .getByText(/^Failed in .* in stage 2 of 5 \(tiles\) · 8 of 20 tasks failed · 4 of them with /)
        .waitFor();
      await page.getByRole("heading", { name: "A stage failed" }).waitFor();
      await card(4).locator(".stage-status").getByText("cancelled").waitFor();
      await page.getByRole("link", { name: "Errors 8" }).click();
      const group = page.locator("[data-signature]").filter({ hasText: "no_data" });
      await group.getByText("tile <n> has no data at").first().waitFor();
      await expect.poll(() => group.getByRole("link", { name: /^\d+-\d+$/ }).count()).toBe(4);
      await dashboard.axe();
      await group.getByRole("button", { name: "Retry this group" }).click();
      await dialog().getByText("4 tasks would run again").waitFor();

      await act();
      await dialog().getByText("4 tasks run again").waitFor();
      await dialog().getByText("This is epoch 2 of the job.").waitFor();
      await close();
      await scene.engine.wait(job_id);
      await page.locator("h1").getByText("epoch 2").waitFor();
      await verdict()
        .getByText(/8 of 20 tasks failed/)
        .waitFor();
      expect((await scene.engine.status(job_id)).epoch).toBe(2);
    });

    test("two resumes at once: the one who was late is told who was first", async () => {
      const job_id = await scene.ended("stubborn", 2);
      await dashboard.open(`/jobs/${job_id}`);
      await button("Resume").click();
      await dialog().getByText("2 tasks would run again").waitFor();
      await scene.engine.operate.resume(job_id, { actor: "grace" });
      dashboard.allow(/409 POST .*\/resume$/);
      await act();
      await dialog()
        .getByRole("alert")
        .getByText(/grace opened epoch 2/)
        .waitFor();
      turnstile.let(2);
      await scene.until(job_id, "publish", "waiting_approval");
    });

    test("says why a job waits, and what it waits for", async () => {
      const first = await scene.lonely();
      const job_id = await scene.lonely({ depends_on: [first] });
      const page = await dashboard.open(`/jobs/${job_id}`);
      await verdict()
        .getByText(`Waits for another job to end well · lonely ${first.slice(0, 12)} is queued`)
        .waitFor();
      await page.getByRole("heading", { name: "Waits for another job" }).waitFor();
      await page
        .getByRole("link", { name: first.slice(0, 12) })
        .first()
        .click();
      await page.getByRole("heading", { name: "No worker for this type" }).waitFor();
      await page.getByText("Evidence").click();
      await page.getByRole("rowheader", { name: "task type" }).waitFor();
      await page.getByText("More to do").or(page.getByLabel("More to do")).first().click();
      await button("Verify").click();
      await dialog().getByText("All is as it should be.").waitFor();
      await dashboard.axe();
      await page.keyboard.press("Escape");
      await dialog().waitFor({ state: "detached" });
      // Cancelled, and told so.
      await button("Cancel").click();
      await dialog().getByText("1 task that waits would be dropped").waitFor();
      await act();
      await close();
      await verdict()
        .getByText(/^Cancelled by key:/)
        .waitFor();
    });

    test("shows hostile text as text, and links nowhere it should not", async () => {
      const labels = { "<b>label</b>": hostile_name };
      const job_id = await scene.atlas("hostile", 20, { labels });
      await scene.until(job_id, "publish", "waiting_approval");
      const page = await dashboard.open(`/jobs/${job_id}`);
      await page.getByText("javascript:window.owned=true").waitFor();
      expect(await page.locator("a[href^='javascript:' i]").count()).toBe(0);
      await page.getByText(`<img src=x onerror="window.owned = true">`).first().waitFor();
      expect(await page.locator(".page").textContent()).not.toContain("\u202e");
      for (const tab of ["errors", "events", "parameters"]) {
        await dashboard.go(`/jobs/${job_id}/${tab}`);
        await page.locator("h1").getByText("atlas").waitFor();
        const shown = await page.locator(".page").textContent();
        for (const obeyed of ["\u202e", "\u0007"]) expect(shown).not.toContain(obeyed);
      }
      expect(await page.locator("img[src=x]").count()).toBe(0);
      expect(await page.evaluate("window.owned")).toBeUndefined();
    });

    test("a key that may only read sees what it may not do, and why", async () => {
      const job_id = await scene.published();
      await dashboard.open(`/jobs/${job_id}`, { scopes: ["read"], operator: false });
      await verdict()
        .getByText(/^Completed/)
        .waitFor();
      const retry = button("Retry a stage");
      expect(await retry.getAttribute("aria-disabled")).toBe("true");
      expect(await retry.getAttribute("title")).toContain("does not have the scope operate");
      // Whoever presses it all the same.
      await retry.click({ force: true });
      expect(await dialog().count()).toBe(0);
      expect(await button("Resume").getAttribute("title")).toContain("It completed");
    });

    test("a job of another tenant is no job", async () => {
      const job_id = await scene.lonely();
      dashboard.allow(/404 GET .*\/api\/jobs\//);
      const page = await dashboard.open(`/jobs/${job_id}`, { tenant: "acme", operator: false });
      await page.getByRole("heading", { name: "There is no such job" }).waitFor();
      expect(await page.locator("body").textContent()).not.toContain("lonely");
    });

    test("is usable on a phone, light and dark, and its status can be taken along", async () => {
      const job_id = await scene.ended("broken", 20);
      const page = await dashboard.open(`/jobs/${job_id}`, { width: 360 });
      await card(5).waitFor();
      await dashboard.expectNoSideways();
      await dashboard.theme("dark");
      await dashboard.axe();
      for (const tab of ["Errors", "Events", "Parameters"]) {
        await page.locator("nav.tabs").getByRole("link", { name: tab }).click();
        await page.waitForURL(new RegExp(`/jobs/${job_id}/${tab.toLowerCase()}`));
        await page.locator("main .skeleton").first().waitFor({ state: "detached" });
        await page
          .locator({ Errors: ".group", Events: ".job-story", Parameters: ".job-facts" }[tab]!)
          .first()
          .waitFor();
        await dashboard.expectNoSideways();
        await dashboard.axe(page, ["color-contrast"]);
      }
      const [download] = await Promise.all([
        page.waitForEvent("download"),
        page
          .getByLabel("More to do")
          .click()
          .then(() => button("Download status").click()),
      ]);
      expect(download.suggestedFilename()).toBe(`job-${job_id.slice(0, 12)}.json`);
    });
  },
);
