// Every view, looked at by axe in light and dark, on a phone, and with hostile text in all that people and jobs can write.
import { expect, test } from "vitest";
import { defineHandler, defineJob } from "../../src/core/declare/declare.js";
import { Permanent } from "../../src/core/errors/errors.js";
import { withoutPostgis } from "../catalog_packages.js";
import { describeInBrowser } from "./browser.js";
import { type View, views } from "./views.js";
import { fillCatalog, fillWorld, type World, world_parts, world_types } from "./world.js";

const script = `<img src=x onerror="window.hacked=1"><script>window.hacked=1</script>`;
/** Markup, a script's address, orders to a terminal, text that runs backwards, and a marker to look for. */
const hostile = `hostilemark ${script} javascript:alert(1) \u001b[31mred\u001b[0m \u202egnp.exe {{7*7}} \${7*7} '"><svg/onload=window.hacked=1>`;

/** Where control characters are refused at once. */
const plain = ["\u001b", "\u202e"].reduce((text, character) => text.replaceAll(character, ""), hostile);

const hostile_parts = {
  jobs: [
    defineJob({
      type: "hostile",
      description: hostile,
      stages: [
        {
          name: "work",
          task: "hostile.work",
          description: hostile,
          tasks: () => [{ index: hostile.slice(0, 60), parameters: { [script]: hostile } }],
        },
        { name: "ask", task: "hostile.work", gate: hostile },
      ],
    }),
  ],
  handlers: [
    defineHandler("hostile.work", {}, async (parameters, ctx) => {
      ctx.log.error(hostile, { [script]: hostile });
      ctx.deliver({ name: "thing", location: `javascript:alert("${hostile.slice(0, 100)}")` });
      if (parameters.fails !== undefined) throw new Permanent(hostile, { code: "hostile" });
      return { [script]: hostile, html: hostile };
    }),
  ],
};

/** Where it stands on the page, and is waited for. */
const shows_hostile = (job_id: string, failed: string, done: string, request_id: string) => [
  "/requests",
  `/requests/${request_id}`,
  `/requests/${request_id}/parameters`,
  "/datasets",
  "/jobs",
  `/jobs/${job_id}`,
  `/jobs/${job_id}/parameters`,
  `/tasks/${failed}`,
  `/tasks/${done}`,
  "/submit",
  "/submit/hostile",
  "/submit/evil",
  "/schedules/evil",
  "/webhooks",
  "/keys",
  "/audit",
];

const without_catalog = await withoutPostgis();
const shown = views.filter(({ catalog, photo }) => photo !== true && (catalog !== true || without_catalog === null));
let world: World;

describeInBrowser(
  "every view",
  {
    parts: {
      jobs: [...world_parts.jobs, ...hostile_parts.jobs],
      recipes: world_parts.recipes,
      handlers: [...world_parts.handlers, ...hostile_parts.handlers],
    },
    worker: { types: [...world_types, "hostile.work", "#plan:hostile"], slots: 12 },
    variant: without_catalog === null ? "stac" : "app",
    async prepare(service) {
      if (without_catalog === null) await fillCatalog(service);
      world = await fillWorld(service);
    },
  },
  (dashboard) => {
    const visit = async ({ path, ready }: View, of: World) => {
      await dashboard.go(path(of));
      await ready?.(dashboard.page);
    };

    // In parts, so that a slow machine does not run out of a test's time.
    const parts = [0, 1, 2, 3];
    const size = Math.ceil(shown.length / parts.length);
    test.each(parts)(
      "axe finds nothing serious, light or dark, and none is wider than a phone (part %i)",
      async (part) => {
        await dashboard.open("/workers");
        const found: string[] = [];
        for (const view of shown.slice(part * size, (part + 1) * size)) {
          const looked = async (look: () => Promise<void>) =>
            look().catch((error: Error) => void found.push(`${view.name}: ${error.message}`));
          await dashboard.theme("light");
          await visit(view, world);
          await looked(() => dashboard.axe());
          await dashboard.theme("dark");
          await looked(() => dashboard.axe(dashboard.page, ["color-contrast"]));
          await dashboard.width(360);
          await looked(() => dashboard.expectNoSideways());
          await dashboard.width(1280);
        }
        expect(found).toEqual([]);
      },
      600_000,
    );

    test("hostile text stays text", async () => {
      const tenant = "hostile";
      const { service } = dashboard;
      const key = await service.key(tenant);
      const engine = service.engine.forTenant(tenant);
      await service.engine.tenants.rename(tenant, plain.slice(0, 180));
      const options = { labels: { owner: plain, [script]: "x" }, correlation_id: plain.slice(0, 150) };
      const job_id = (await engine.submit("hostile", { text: hostile, [script]: 1 }, options)).job_id;
      await engine.keys.create({ name: plain.slice(0, 90), scopes: ["read"], actor: plain });
      await service.call("PUT", "/api/schedules/evil", {
        key,
        body: { cron: "0 0 1 1 *", job_type: "hostile", parameters: { hostile } },
      });
      await service.call("POST", "/api/webhooks", {
        key,
        body: { url: "https://hooks.example.com/", description: plain.slice(0, 180) },
      });
      await service.call("PUT", `/api/blueprints/evil`, {
        key,
        body: { description: plain, stages: [{ name: "say", task: "hostile.work" }] },
      });
      const recipe = { description: plain, jobs: [{ name: "say", job: "hostile" }] };
      await service.call("PUT", "/api/platform/recipes/evil", { key, body: recipe });
      const names = { dataset_id: plain.slice(0, 200), resource_id: script, version_id: "<b>1</b>", data_type: "evil" };
      const said = { client_id: plain.slice(0, 180), metadata: { [script]: plain }, files: [plain] };
      const { request_id } = await engine.requests.submit({ ...names, ...said, labels: { owner: plain } });
      await expect.poll(async () => (await engine.tasks({ job_id })).tasks[0]?.status).toBe("completed");
      const failed = (await engine.enqueue("hostile.work", { fails: true, text: hostile })).task_id;
      await expect.poll(async () => (await engine.task(failed)).status).toBe("failed");
      const done = (await engine.tasks({ job_id })).tasks[0]!.task_id;
      const evil = {
        covered: job_id,
        running: job_id,
        broken: job_id,
        gated: job_id,
        stuck: job_id,
        failed_task: failed,
        published: request_id,
        reviewed: request_id,
        request_failed: request_id,
      };
      const page = await dashboard.open("/jobs", { tenant });
      const dialogs: string[] = [];
      page.on("dialog", (dialog) => {
        dialogs.push(dialog.message());
        void dialog.dismiss();
      });
      dashboard.allow(/404 GET .*\/(api|stac)\//);
      // Some show the same job: once is enough.
      const paths = new Set([
        ...shown.map(({ path }) => path(evil)),
        ...shows_hostile(job_id, failed, done, request_id),
      ]);
      for (const path of paths) {
        await dashboard.go(path);
        if (shows_hostile(job_id, failed, done, request_id).includes(path)) {
          await page.getByText("hostilemark").first().waitFor({ state: "attached" });
        }
        const [hacked, forged, text] = await page.evaluate<[unknown, number, string]>(
          `[window.hacked, document.querySelectorAll("img[src=x], svg[onload], a[href^='javascript:'], main script").length, document.body.innerText]`,
        );
        expect({ path, hacked, forged }).toEqual({ path, hacked: undefined, forged: 0 });
        expect(text.includes("\u202e"), `${path} runs backwards`).toBe(false);
        expect(text.includes("\u001b"), `${path} has control characters`).toBe(false);
      }
      expect(dialogs).toEqual([]);
    }, 600_000);
  },
);
