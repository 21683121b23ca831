// The heat map in a real browser: what a cell shows and says, selecting by mouse, key and finger, acting on what is selected, and
// cells that change as their tasks do.
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { claim, drain, type Fate, finish, type Held, register, submit } from "../engine/floor.js";
import type { TestService } from "../server/service.js";
import { describeInBrowser } from "./browser.js";

const hostile = '<img src=x onerror="fail()"> \u202egpj.exe';
let worker: string;
let job_id: string;
let stage_id: number;
let wide_id: string;

const broken = ({ ordinal }: Held): Fate =>
  ordinal % 20 === 7 ? { category: "permanent", code: "no_tile", message: `${hostile} ${ordinal}\nsecond line` } : {};

/** 100 tasks of which five failed, and 25,000 of which the first hundred are done. */
async function prepare({ db }: TestService): Promise<void> {
  worker = await register(db, [], 3600);
  const stages = (task: string, count: number) => [
    { name: "tile", task, plan: { count }, failure_budget: { percent: 50 } },
  ];
  ({ job_id } = await submit(db, stages("t.tile", 100), {}, { type: "tiles" }));
  const held = await claim(db, worker, ["t.tile"]);
  stage_id = held[0]!.stage_id;
  await finish(db, worker, held, broken);
  ({ job_id: wide_id } = await submit(db, stages("t.wide", 25_000), {}, { type: "wide_tiles" }));
  await drain(db, worker, ["#plan"]);
  await finish(db, worker, await claim(db, worker, ["t.wide"], 100), broken);
}

const map = (page: Page) => page.getByRole("application", { name: "Tasks of tile" });

/** The middle of a cell, in the map. Given to `hover` and `click`, which wait until the map stands still. */
async function place(page: Page, cell: number): Promise<{ position: { x: number; y: number } }> {
  const columns = Number(await map(page).getAttribute("data-columns"));
  const pitch = Number(await map(page).getAttribute("data-pitch"));
  return { position: { x: ((cell % columns) + 0.5) * pitch, y: (Math.floor(cell / columns) + 0.5) * pitch } };
}

/** Waits until the corner of a cell has the colour of a status. */
async function untilColour(page: Page, cell: number, name: string): Promise<void> {
  const colour = () =>
    page.evaluate<string>(
      `(() => {
         const box = document.querySelector(".heat-canvas");
         const canvas = box?.querySelector("canvas");
         if (!canvas?.width) return "nothing";
         const pitch = canvas.width / box.dataset.columns;
         const [x, y] = [(${cell} % box.dataset.columns) * pitch, Math.floor(${cell} / box.dataset.columns) * pitch];
         const [r, g, b] = canvas.getContext("2d").getImageData(x, y, 1, 1).data;
         const found = "#" + [r, g, b].map((part) => part.toString(16).padStart(2, "0")).join("");
         const wanted = getComputedStyle(document.documentElement).getPropertyValue("${name}").trim();
         return found === wanted ? "as it should be" : found + " instead of " + wanted;
       })()`,
    );
  await expect.poll(colour, { timeout: 30_000, message: `cell ${cell}` }).toBe("as it should be");
}

const selected = (page: Page) => page.getByRole("region", { name: "Selected tasks" });

describeInBrowser("the heat map", { worker: false, prepare }, (dashboard) => {
  test("each cell has the colour of its task, says what it is under the pointer, and opens it", async () => {
    const page = await dashboard.open(`/jobs/${job_id}/tasks`);
    await untilColour(page, 0, "--st-completed");
    await untilColour(page, 7, "--st-failed");
    await map(page).hover(await place(page, 27));
    const card = page.locator(".heat-card");
    await card.getByText(`Task ${stage_id}-27`).waitFor();
    await card.getByText("onerror").waitFor();
    const said = await card.innerText();
    expect(said).toContain('<img src=x onerror="fail()">');
    expect(said).not.toContain("second line");
    expect(said).not.toContain("\u202e");
    await dashboard.theme("dark");
    await untilColour(page, 7, "--st-failed");
    await page.getByRole("button", { name: "Duration" }).click();
    await page.waitForURL(/by=duration/);
    await page.getByRole("img", { name: /^From / }).waitFor();
    await dashboard.axe();
    await map(page).click(await place(page, 27));
    await page.waitForURL(new RegExp(`/tasks/${stage_id}-27$`));
  });

  test("a box is dragged, shift adds to it, and the table says the same in words", async () => {
    const page = await dashboard.open(`/jobs/${job_id}/tasks`);
    const columns = Number(await map(page).getAttribute("data-columns"));
    const drag = async (from: number, to: number) => {
      await map(page).hover(await place(page, from));
      await page.mouse.down();
      for (const cell of [from + 1, to]) await map(page).hover(await place(page, cell));
      await page.mouse.up();
    };
    const bar = selected(page);
    await drag(1, columns + 3);
    await bar.getByText("6 tasks selected").waitFor();
    await page.keyboard.down("Shift");
    await drag(10, 12);
    await page.keyboard.up("Shift");
    await bar.getByText("9 tasks selected").waitFor();
    await page.getByText("As a table: the 9 tasks selected").click();
    const rows = page.getByRole("table", { name: "Table of the 9 tasks selected" }).locator("tbody tr");
    await rows.nth(8).waitFor();
    await expect.poll(() => rows.count()).toBe(9);
    const download = page.waitForEvent("download");
    await bar.getByRole("button", { name: "Download CSV" }).click();
    expect((await download).suggestedFilename()).toMatch(/^tile-.*\.csv$/);
    await bar.getByRole("button", { name: "Clear" }).click();
    await bar.waitFor({ state: "detached" });
  });

  test("keys move, select and open", async () => {
    const page = await dashboard.open(`/jobs/${job_id}/tasks`);
    await map(page).focus();
    for (const key of ["Home", "ArrowRight", "ArrowRight", "Space", "Shift+ArrowRight"]) await page.keyboard.press(key);
    await selected(page).getByText("2 tasks selected").waitFor();
    await page.getByText(/^Task 3: completed.*, selected$/).waitFor({ state: "attached" });
    await page.keyboard.press("Enter");
    await page.waitForURL(new RegExp(`/tasks/${stage_id}-3$`));
  });

  test("what failed is selected at once and run again, and its cells change while somebody looks", async () => {
    const page = await dashboard.open(`/jobs/${job_id}/tasks`);
    await page.getByRole("button", { name: /^failed 5 ?: select them/ }).click();
    await selected(page).getByText("5 tasks selected").waitFor();
    await page.getByRole("button", { name: "Retry…" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByText("5 tasks would run again (5 failed).").waitFor();
    await dialog.getByText("The same on the command line").click();
    await dialog.getByText(`fanfold retry ${job_id.slice(0, 12)} --stage tile --tasks 7,27,47,67,87`).waitFor();
    await dialog.getByLabel(/^Why/).fill("the tiles are there now");
    await dialog.getByRole("button", { name: "Run again" }).click();
    await dialog.getByText("5 tasks run again (5 failed).").waitFor();
    await dashboard.closeDialog();
    await untilColour(page, 7, "--st-queued");
    // Nobody touches the page any more.
    await drain(dashboard.service.db, worker, ["t.tile"]);
    await untilColour(page, 7, "--st-completed");
    await page.getByRole("button", { name: /^completed 100 ?: select them/ }).waitFor();
  });

  test("of many tasks a cell stands for several, opens into them, and tells how long it took to draw", async () => {
    const page = await dashboard.open(`/jobs/${wide_id}/tasks`);
    await untilColour(page, 3, "--st-failed");
    await untilColour(page, 12_000, "--st-queued");
    expect(await map(page).getAttribute("data-cells")).toBe("12500");
    await map(page).click(await place(page, 3));
    await page.getByRole("heading", { name: "Tasks 6 to 7" }).waitFor();
    const rows = page.getByRole("table", { name: "Tasks 6 to 7" }).locator("tbody tr");
    await rows.nth(1).waitFor();
    await expect.poll(() => rows.count()).toBe(2);
    const drawn = await page.evaluate<number>("performance.getEntriesByName('fanfold:heat:draw').length");
    expect(drawn).toBeGreaterThan(0);
    await page.getByRole("button", { name: /^queued .*: select them/ }).click();
    await page.getByRole("button", { name: "Skip…" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByText("24,900 tasks would be skipped (24,900 queued).").waitFor();
    await dialog.getByRole("button", { name: "Leave it" }).click();
  });

  test("on a phone a tap tells, a switch lets taps select, and nothing is wider than the window", async () => {
    const page = await dashboard.open(`/jobs/${job_id}/tasks`, { width: 360 });
    const fingers = await page.context().newCDPSession(page);
    await fingers.send("Emulation.setTouchEmulationEnabled", { enabled: true });
    const tap = async (cell: number) => {
      const { position } = await place(page, cell);
      await map(page).scrollIntoViewIfNeeded();
      const box = (await map(page).boundingBox())!;
      const [x, y] = [box.x + position.x, box.y + position.y];
      // In one go: a finger that stays is a long press.
      await Promise.all([
        fingers.send("Input.dispatchTouchEvent", { type: "touchStart", touchPoints: [{ x, y }] }),
        fingers.send("Input.dispatchTouchEvent", { type: "touchEnd", touchPoints: [] }),
      ]);
    };
    await tap(4);
    await page.locator(".heat-card").getByText(`Task ${stage_id}-4`).waitFor();
    await page.getByRole("button", { name: "Tap to select" }).click();
    await tap(4);
    await tap(6);
    await selected(page).getByText("2 tasks selected").waitFor();
    await tap(4);
    await selected(page).getByText("1 task selected").waitFor();
    await dashboard.expectNoSideways();
    await dashboard.axe();
  });

  test("whoever may only read is told why nothing can be done", async () => {
    const page = await dashboard.open(`/jobs/${job_id}/tasks`, { scopes: ["read"], operator: false });
    await page.getByRole("button", { name: /^completed .*: select them/ }).click();
    const skip = page.getByRole("button", { name: "Skip…" });
    await skip.waitFor();
    expect(await skip.getAttribute("aria-disabled")).toBe("true");
    expect(await skip.getAttribute("title")).toContain("scope operate");
  });
});
