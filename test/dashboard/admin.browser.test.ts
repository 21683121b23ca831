// Submitting by a form, and the pages of whoever administers: schedules, webhooks, keys, limits, audit. In a real browser, before a
// real service, with a real worker that really calls a receiver.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { Page } from "playwright-core";
import { afterAll, expect, test } from "vitest";
import { z } from "zod";
import { defineHandler, defineJob } from "../../src/core/declare/declare.js";
import { webhookDeliver } from "../../src/handlers/connectors/webhook_deliver.js";
import { describeInBrowser } from "./browser.js";

const received: string[] = [];
const receiver = createServer((request, response) => {
  received.push(String(request.headers["webhook-id"]));
  request.resume().on("end", () => response.end("thank you"));
});
await new Promise<void>((resolve) => receiver.listen(0, "127.0.0.1", resolve));
const { port } = receiver.address() as AddressInfo;
afterAll(() => void receiver.close());

const hostile = "<img src=x onerror=alert(1)>\u202e";
/** What people call things has no marks of direction: it would be refused. */
const named = hostile.replace("\u202e", "");
const tiles = defineJob({
  type: "tiles",
  description: `Tiles of a scene ${hostile}`,
  parameters: z
    .object({
      name: z.string().min(2).describe("What it is called"),
      n: z.int().min(1).max(9).default(3),
      scale: z.number().optional(),
      mode: z.enum(["fast", "good"]).default("fast"),
      tags: z.array(z.string()).optional(),
      from: z.int().optional(),
      until: z.int().optional(),
      source: z.discriminatedUnion("type", [
        z.object({ type: z.literal("file"), path: z.string() }),
        z.object({ type: z.literal("url"), url: z.url() }),
      ]),
    })
    .superRefine(({ from, until }, context) => {
      if (from !== undefined && until !== undefined && until < from) {
        context.addIssue({ code: "custom", path: ["until"], message: "is before from" });
      }
    }),
  stages: [
    { name: "cut", task: "t.do", tasks: { count: "{parameters.n}" } },
    { name: "check", task: "t.do", parallelism: "match_previous" },
  ],
});
const plain = defineJob({ type: "plain", stages: [{ name: "do", task: "t.do" }] });

describeInBrowser(
  "the pages of administrators",
  {
    parts: { jobs: [tiles, plain], handlers: [defineHandler("t.do", {}, () => null), webhookDeliver] },
    worker: { outbound: { allow_http: true, allow_private: [`127.0.0.1:${port}`] } },
  },
  (dashboard) => {
    const button = (page: Page, name: string | RegExp) =>
      page.getByRole("button", { name, exact: typeof name === "string" });
    const dialog = (page: Page) => page.getByRole("dialog");
    /** Axe finds nothing, and on a phone nothing hangs over. Views as they are first shown are looked at in walk_views. */
    const looksRight = async (page: Page) => {
      await dashboard.axe();
      await dashboard.width(360);
      await dashboard.expectNoSideways(page);
      await dashboard.width(1280);
    };

    test("a job is filled in, looked at without doing it, sent, and sent again", async () => {
      const page = await dashboard.open("/submit?q=til");
      await page.getByRole("link", { name: /tiles/ }).click();
      await page.getByRole("heading", { name: "tiles" }).waitFor();
      // Nothing is said to be wrong before anybody was there; then everything at once, at its place.
      expect(await page.locator(".problem").count()).toBe(0);
      await button(page, "Dry run").click();
      await page.getByText("is missing. Give a text.").waitFor();
      await page.getByLabel(/^name/).fill("d");
      await page.getByText("must have at least 2 characters").waitFor();
      await page.getByLabel(/^name/).fill('dem it\'s "here"');
      await page.getByLabel("n", { exact: true }).fill("4x");
      await page.getByText("is not a number: 4x").waitFor();
      await page.getByLabel("n", { exact: true }).fill("4");
      await page.getByLabel("scale").fill("0.10000000000000000001");
      await page
        .getByRole("group", { name: /^source/ })
        .getByLabel("Which kind")
        .selectOption("file");
      await page.getByLabel(/^path/).fill("bronze:dem.tif");
      await page.getByLabel("from", { exact: true }).fill("5");
      await page.getByLabel("until").fill("4");
      // What only the server knows stands at its field too.
      dashboard.allow(/422 POST .*\/api\/jobs\/submit\/tiles/, /400 POST .*\/api\/jobs\/submit\/tiles/);
      await button(page, /^Dry run/).click();
      await page
        .locator(".field", { has: page.getByLabel("until") })
        .getByText("is before from")
        .waitFor();
      await page.getByLabel("until").fill("6");
      await page.getByLabel("scale").fill("0.25");
      // The same value as JSON, digit by digit; what is changed there is changed in the form.
      await button(page, "JSON").click();
      const json = page.getByLabel("parameters as JSON");
      await expect
        .poll(async () => JSON.parse(await json.inputValue()))
        .toEqual({
          name: 'dem it\'s "here"',
          n: 4,
          scale: 0.25,
          from: 5,
          until: 6,
          source: { type: "file", path: "bronze:dem.tif" },
        });
      await json.fill('{"name": "dem", "n": 5, "source": {"type": "file", "path": "it\'s"}, "tags": ["a"');
      await page.getByText("The form keeps the last JSON that could be read.").waitFor();
      await json.fill('{"name": "dem", "n": 5, "source": {"type": "file", "path": "it\'s"}, "tags": ["a"]}');
      await button(page, "Form").click();
      await expect.poll(() => page.getByLabel("n", { exact: true }).inputValue()).toBe("5");
      await page
        .getByText(`'{"name":"dem","n":5,"source":{"type":"file","path":"it'\\''s"},"tags":["a"]}'`)
        .first()
        .waitFor();
      const jobs = async () => (await dashboard.service.engine.jobs({ type: "tiles" })).jobs.length;
      await button(page, "Dry run").click();
      await page.getByText("It would be submitted").waitFor();
      await page.getByText("10 tasks for certain").waitFor();
      expect(await jobs()).toBe(0);
      await looksRight(page);
      await button(page, "Submit").click();
      await page.waitForURL(/\/jobs\/[0-9a-f]{64}/);
      expect(await jobs()).toBe(1);
      const job_id = /[0-9a-f]{64}/.exec(page.url())![0];
      await dashboard.go(`/submit?job=${job_id}`);
      await page.getByText("Filled in from job").waitFor();
      await expect.poll(() => page.getByLabel(/^path/).inputValue()).toBe("it's");
      await button(page, "Submit").click();
      await page.getByText("It exists already").waitFor();
      await button(page, "Run it once more").click();
      await page.waitForURL((url) => /\/jobs\/[0-9a-f]{64}/.test(url.pathname) && !url.pathname.includes(job_id));
      expect(await jobs()).toBe(2);
    });

    test("a schedule is made while its times are shown, run by hand, paused and deleted", async () => {
      const page = await dashboard.open("/schedules");
      await page.getByText("No schedules yet").waitFor();
      await button(page, "Make a schedule").click();
      await dialog(page).getByLabel(/^name/).fill("morning");
      await dialog(page).getByLabel(/^cron/).fill("30 6 * * 1-5");
      await dialog(page)
        .getByLabel(/^time_zone/)
        .fill("America/New_York");
      await dialog(page).getByText("at 06:30, on Monday to Friday, America/New_York").waitFor();
      await dialog(page).getByRole("columnheader", { name: "Here (Europe/Berlin)" }).waitFor();
      await dialog(page)
        .getByLabel(/^job_type/)
        .selectOption("plain");
      await dashboard.axe();
      await button(page, "Make it").click();
      await page.getByRole("link", { name: "morning" }).click();
      await page.getByRole("heading", { name: "morning" }).waitFor();
      await button(page, "Run now").click();
      await button(page, "Run it").click();
      await dialog(page).getByText("Its job is submitted.").waitFor();
      await dashboard.closeDialog();
      await page.getByText(/by hand: key:/).waitFor();
      await button(page, "Pause").click();
      await dialog(page).getByLabel(/^Why/).fill("the disk is full");
      await dialog(page).getByText("The same on the command line").click();
      await dialog(page).getByText("fanfold schedules pause morning --reason 'the disk is full'").waitFor();
      await button(page, "Pause it").click();
      await dashboard.closeDialog();
      await page.getByText("the disk is full").first().waitFor();
      await looksRight(page);
      await dashboard.go("/schedules");
      await page.getByRole("list", { name: /^Last 1 times/ }).waitFor();
      await dashboard.go("/schedules/morning");
      await button(page, "Delete").click();
      await button(page, "Delete it").click();
      await page.getByText("No schedules yet").waitFor();
    });

    test("an endpoint hears of jobs, and deliveries are looked into and replayed", async () => {
      const page = await dashboard.open("/webhooks");
      await button(page, "Make an endpoint").click();
      await dialog(page).getByLabel(/^url/).fill(`http://127.0.0.1:${port}/hooks`);
      await button(page, "Make it").click();
      await dialog(page).getByText("Copy the secret now.").waitFor();
      await expect.poll(() => dialog(page).locator("[data-secret]").textContent()).toMatch(/^whsec_/);
      await dashboard.closeDialog();
      await page.getByRole("link", { name: `http://127.0.0.1:${port}/hooks` }).click();
      await button(page, "Ping").click();
      await button(page, "Send it").click();
      await dashboard.closeDialog();
      await page.getByRole("table").getByText("delivered", { exact: true }).waitFor();
      expect(received).toHaveLength(1);
      await button(page, "Details").click();
      await dialog(page).getByRole("cell", { name: "200", exact: true }).waitFor();
      await button(page, "Replay").click();
      await button(page, "Send it again").click();
      await dashboard.closeDialog();
      await dialog(page).getByRole("cell", { name: "2", exact: true }).first().waitFor();
      // This one says nothing: it has only a cross.
      await dialog(page).getByRole("button", { name: "Close" }).click();
      await dialog(page).waitFor({ state: "detached" });
      expect(new Set(received).size, "the same id, twice").toBe(1);
      await button(page, "Replay a span").click();
      await dialog(page).getByLabel("delivered").check();
      await button(page, "Count them first").click();
      await page.locator("[data-counted='1']").waitFor();
      await button(page, "Replay").click();
      await dialog(page).getByText("1 delivery is sent again.").waitFor();
      await dashboard.closeDialog();
      await button(page, "Rotate secret").click();
      await button(page, "Rotate").click();
      await dialog(page).getByText("Copy the secret now.").waitFor();
      await dashboard.closeDialog();
      await button(page, "Disable").click();
      await dialog(page).locator("[data-verb=run]").click();
      await dashboard.closeDialog();
      await page.getByText("disabled", { exact: true }).waitFor();
      await looksRight(page);
    });

    test("a key is shown once, and revoking it says what stops", async () => {
      const page = await dashboard.open("/keys");
      await button(page, "Make a key").click();
      await dialog(page).getByLabel(/^name/).fill(`nightly ${named}`);
      await button(page, "Make it").click();
      await dialog(page).getByText("Copy the key now.").waitFor();
      const key = await dialog(page).locator("[data-secret]").textContent();
      expect((await dashboard.service.call("GET", "/api/jobs", { key })).status).toBe(200);
      await dashboard.closeDialog();
      await expect.poll(() => page.content()).not.toContain(key);
      const row = page.getByRole("row", { name: /nightly/ });
      await row.getByRole("button", { name: "Revoke" }).click();
      await dialog(page)
        .getByText(/submitting jobs, looking at jobs and files|looking at jobs and files, submitting jobs/)
        .waitFor();
      await dialog(page).getByLabel(/^Why/).fill("leaked");
      await dialog(page).locator("[data-verb=run]").click();
      await dashboard.closeDialog();
      await row.getByText("revoked").waitFor();
      expect((await dashboard.service.call("GET", "/api/jobs", { key })).status).toBe(401);
    });

    test("limits are set and measured, and the audit tells who did what", async () => {
      const page = await dashboard.open("/limits");
      await button(page, "Set limits").click();
      await dialog(page).getByLabel("queued_tasks").fill("0");
      await dialog(page).getByText("must be at least 1").waitFor();
      await dialog(page).getByLabel("queued_tasks").fill("500");
      await dialog(page).locator("[data-verb=run]").click();
      await page.getByRole("img", { name: "0 of 500 used" }).waitFor();
      await dashboard.go("/audit");
      const row = page.getByRole("row", { name: /revoked a key/ });
      await row.getByText("leaked").waitFor();
      await page.getByRole("row", { name: /deleted a schedule.*morning/ }).waitFor();
      expect(await page.getByRole("row", { name: /submitted a job/ }).count()).toBe(0);
      await page.getByLabel("with submits").check();
      await page
        .getByRole("row", { name: /submitted a job.*tiles/ })
        .first()
        .waitFor();
      await page.getByLabel("What").selectOption("key.");
      await page
        .getByRole("row", { name: /made a key/ })
        .first()
        .waitFor();
      await page.getByRole("row", { name: /set limits/ }).waitFor({ state: "detached" });
      await page.waitForURL(/kind=key\./);
    });

    test("who may only look is told so, and sees neither keys nor the audit", async () => {
      const page = await dashboard.open("/keys", { scopes: ["read"], operator: false });
      await page.getByText("Keys are for administrators").waitFor();
      await dashboard.go("/audit");
      await page.getByText("The audit is for administrators").waitFor();
      await dashboard.go("/submit/plain");
      const submit = button(page, "Submit");
      expect(await submit.getAttribute("aria-disabled")).toBe("true");
      expect(await submit.getAttribute("title")).toContain("scope submit");
      await dashboard.go("/webhooks");
      await page.getByText("Endpoints are shown to administrators").waitFor();
      await dashboard.go("/limits");
      expect(await button(page, "Set limits").getAttribute("aria-disabled")).toBe("true");
    });
  },
);
