// A task's page and a job's timeline in a real browser: hostile lines stay text, digits stay, the log is followed as it is written, and
// what can be done is done.
import { expect, test } from "vitest";
import { defineHandler, defineJob } from "../../src/core/declare/declare.js";
import { Permanent, Throttled } from "../../src/core/errors/errors.js";
import { describeInBrowser } from "./browser.js";

const hostile =
  '\u001b[31mred\u001b[0m \u202eevil\u202c \u0007 <img src=x onerror="alert(1)"> \u001b]8;;https://evil.example\u0007link';
let job_id = "";
let big = "";
/** The long task goes on when it is told to. */
let say: (line: string) => void = () => {};
let stop: () => void = () => {};
let tries = 0;
let broken = true;

describeInBrowser(
  "a task",
  {
    parts: {
      jobs: [
        defineJob({
          type: "tiles",
          stages: [
            {
              name: "cut",
              task: "t.cut",
              tasks: { count: 6, index: "tile-{ordinal}", parameters: { n: "{ordinal}" } },
              failure_budget: { count: 1 },
            },
            { name: "join", task: "t.join", parallelism: "fan_in" },
          ],
        }),
      ],
      handlers: [
        defineHandler("t.cut", {}, ({ n }, ctx) => {
          ctx.log.info(hostile, { digits: 1 });
          ctx.log.warn(`slow ${n}`);
          if (n === 2 && tries++ === 0) throw new Throttled(0.05, "not so fast");
          if (n === 4) throw new Permanent("<b>cracked</b>", { code: "cracked" });
          return { n };
        }),
        defineHandler("t.join", {}, () => ({ joined: true })),
        defineHandler("t.mend", {}, (_, ctx) => {
          if (broken) throw new Permanent("not mended", { code: "broken" });
          ctx.log.info("mended");
          return { mended: true };
        }),
        defineHandler("t.long", {}, async (_, ctx) => {
          say = (line) => ctx.log.info(line);
          ctx.log.info("it begins");
          await new Promise<void>((resolve) => {
            stop = resolve;
          });
        }),
        defineHandler("t.never", {}, () => null),
      ],
    },
    worker: { types: ["t.cut", "t.join", "t.mend", "t.long", "#plan"] },
    async prepare({ engine, db }) {
      ({ job_id } = await engine.submit("tiles", {}));
      await engine.wait(job_id);
      ({ task_id: big } = await engine.enqueue("t.never", {}));
      const [stage, ordinal] = big.split("-").map(Number) as [number, number];
      const parameters = '{"id": 12345678901234567890, "share": 0.1000000000000000055, "__proto__": {"x": 1}}';
      await db.sql`update app.tasks set parameters = ${parameters}::text::jsonb where stage_id = ${stage} and ordinal = ${ordinal}`;
    },
  },
  (dashboard) => {
    async function taskOf(index: string): Promise<string> {
      const { body } = await dashboard.service.call("GET", `/api/jobs/${job_id}/tasks?stage=cut`);
      return body.tasks.find((task: { index: string }) => task.index === index).task_id;
    }

    test("tells the story of its attempts, shows hostile lines as text, and finds what is searched for", async () => {
      const page = await dashboard.open(`/tasks/${await taskOf("tile-2")}`);
      await page.getByText("Attempt 1 failed").waitFor();
      await page.getByText("not so fast").first().waitFor();
      await page.getByText(/Attempt 1 completed/).waitFor();
      const log = page.getByRole("log");
      await log.getByText("\\u202e").first().waitFor();
      await expect.poll(() => log.innerText()).toContain('<img src=x onerror="alert(1)">');
      for (const obeyed of ["\u0007", "\u001b", "\u202e"]) expect(await log.innerText()).not.toContain(obeyed);
      expect(await log.locator("img, a").count()).toBe(0);
      await page.getByLabel("Search in the log").fill("SLOW");
      await expect.poll(() => page.locator(".log-line").count()).toBe(2);
      await expect.poll(() => page.locator(".log-line mark").first().innerText()).toBe("slow");
      await page.waitForURL((url) => url.searchParams.get("q") === "SLOW");
      await page.getByRole("link", { name: "0 (completed)" }).waitFor();
      await dashboard.axe();
      await dashboard.width(360);
      await dashboard.expectNoSideways();
      await dashboard.theme("dark");
      await dashboard.axe();
    });

    test("keeps every digit of its values, and any key", async () => {
      const page = await dashboard.open(`/tasks/${big}`);
      await page.getByText("12345678901234567890").waitFor();
      await page.getByText("0.1000000000000000055").waitFor();
      await page.getByText("__proto__:").waitFor();
      await page.getByText("No worker for this type").waitFor();
      await page.getByRole("button", { name: "Move" }).click();
      await page.getByLabel("Not before").fill("2040-01-01T12:00");
      await page.getByRole("dialog").getByText("The same on the command line").click();
      await page.getByText(/fanfold tasks reschedule .* 2040-01-01T11:00:00/).waitFor();
      await page.locator("[data-verb=run]").click();
      await page.getByText("It does not start before").waitFor();
      await dashboard.closeDialog();
      await page.getByText("later", { exact: true }).waitFor();
    });

    test("is followed while it runs, and retried when it failed", async () => {
      const { task_id } = await dashboard.service.engine.enqueue("t.long", {});
      const page = await dashboard.open(`/tasks/${task_id}`);
      await page.getByText("it begins").waitFor();
      say("and goes on");
      await page.getByText("and goes on").waitFor();
      stop();
      await page.getByText(/Attempt 1 completed/).waitFor();
      const mend = await dashboard.service.engine.enqueue("t.mend", {});
      await dashboard.go(`/tasks/${mend.task_id}`);
      await page.getByText("not mended").first().waitFor();
      broken = false;
      await page.getByRole("button", { name: "Retry", exact: true }).click();
      await page.getByText("It would run 1 task again").waitFor();
      await page.locator("[data-verb=run]").click();
      await page.getByText("It runs 1 task again").waitFor();
      await dashboard.closeDialog();
      await page.getByText('"mended"').or(page.getByText("mended:")).first().waitFor();
      await dashboard.go("/tasks?type=t.mend");
      await page.getByRole("link", { name: mend.task_id }).waitFor();
      await dashboard.axe();
    });

    test("lies on the timeline of its job, which is drawn, moved by keys and told in words", async () => {
      const page = await dashboard.open(`/jobs/${job_id}/timeline`);
      await page.getByText("The slowest path took").waitFor();
      const picture = page.getByRole("application", { name: /Timeline of 7 tasks by task/ });
      const canvas = picture.locator("canvas");
      await canvas.waitFor();
      const drawn = () =>
        page.evaluate<number>(
          `(({ width, height }, pen) => new Set(pen.getImageData(0, 0, width, height).data).size)(
             ...[document.querySelector(".tl-canvas")].flatMap((canvas) => [canvas, canvas.getContext("2d")]))`,
        );
      await expect.poll(drawn).toBeGreaterThan(20);
      await picture.focus();
      for (const key of ["ArrowDown", "ArrowDown", "+", "+", "ArrowRight"]) await page.keyboard.press(key);
      await page.getByText("The same as a table").click();
      await page.getByRole("table", { name: "The slowest path" }).waitFor();
      await expect.poll(() => page.getByRole("table", { name: "Tasks over time" }).getByRole("row").count()).toBe(8);
      await page.getByLabel("Only tasks tried more than once").check();
      await expect
        .poll(() => page.getByRole("table", { name: "Tasks over time" }).getByRole("row").count())
        .toBeLessThan(8);
      await page.getByRole("button", { name: "By worker" }).click();
      await page.getByRole("application", { name: /by worker/ }).waitFor();
      await dashboard.axe();
      await dashboard.width(360);
      await dashboard.expectNoSideways();
      await page.getByRole("button", { name: "By task" }).click();
      await page.getByRole("application", { name: /by task/ }).focus();
      await page.keyboard.press("ArrowDown");
      await page.keyboard.press("ArrowDown");
      await page.keyboard.press("Enter");
      await page.getByRole("heading", { name: /^Task tile-/ }).waitFor();
    });

    test("of another tenant is not there", async () => {
      dashboard.allow(/404 GET .*\/api\/tasks\//);
      const page = await dashboard.open(`/tasks/${big}`, { tenant: "acme" });
      await page.getByText("There is no such task").waitFor();
    });
  },
);
