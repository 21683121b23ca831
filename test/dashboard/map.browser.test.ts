// The map of a job and the catalogue's pages in a real browser, drawn by a software WebGL.
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { withoutPostgis } from "../catalog_packages.js";
import type { TestService } from "../server/service.js";
import { describeInBrowser } from "./browser.js";
import { catalogued, failing, map_parts, release, surveyed, tile_count } from "./map_world.js";

const has_catalog = (await withoutPostgis()) === null;
let job_id = "";
let stage_id = 0;
let spot_id = "";

const options = {
  parts: map_parts,
  worker: { slots: 8 },
  ...(has_catalog ? { variant: "stac" as const } : {}),
  async prepare(service: TestService) {
    ({ job_id, stage_id } = await surveyed(service));
    if (has_catalog) spot_id = await catalogued(service, job_id, stage_id);
  },
};

describeInBrowser("the map", options, (dashboard) => {
  async function shown(path: string): Promise<Page> {
    const page = await dashboard.open(path);
    await page.locator(".map-canvas[data-ready]").waitFor();
    return page;
  }
  const legend = (page: Page, state: string) => page.locator(`.map-legend [data-state=${state}]`);

  async function drag(page: Page, how: { from: number; to: number }): Promise<void> {
    const { x, y, width, height } = (await page.locator(".map-canvas").boundingBox())!;
    await page.mouse.move(x + width * how.from, y + height * how.from);
    await page.mouse.down();
    await page.mouse.move(x + width * 0.5, y + height * 0.5);
    await page.mouse.move(x + width * how.to, y + height * how.to);
    await page.mouse.up();
  }

  test("shows where tasks are and how they stand, selects them by a box for the heat map too, and follows them", async () => {
    const page = await shown(`/jobs/${job_id}/map?stage=tiles`);
    await legend(page, "failed").getByText(String(failing.length)).waitFor();
    await legend(page, "completed")
      .getByText(String(tile_count - failing.length - 1))
      .waitFor();
    await page.getByText(`${tile_count} of ${tile_count} tasks say where they are`).waitFor();
    await dashboard.axe();

    await page.keyboard.down("Shift");
    await drag(page, { from: 0.01, to: 0.99 });
    await page.keyboard.up("Shift");
    const bar = page.getByRole("region", { name: "Selected tasks" });
    await bar.getByText(`${tile_count} tasks selected`).waitFor();
    await page.locator("nav.tabs").getByRole("link", { name: "Tasks" }).click();
    await page.locator(".heat-canvas").waitFor();
    await bar.getByText(`${tile_count} tasks selected`).waitFor();
    await page.goBack();
    await page.locator(".map-canvas[data-ready]").waitFor();
    await page.getByRole("button", { name: "Zoom to the selected" }).click();
    await bar.getByRole("button", { name: "Clear" }).click();
    await expect.poll(() => bar.count()).toBe(0);
    // The mode is for fingers: a drag without a key.
    await page.getByRole("button", { name: "Select an area" }).click();
    await drag(page, { from: 0.01, to: 0.99 });
    await bar.getByText(`${tile_count} tasks selected`).waitFor();

    release();
    await legend(page, "completed")
      .getByText(String(tile_count - failing.length))
      .waitFor();
    await legend(page, "processing").waitFor({ state: "detached" });
  });

  test("without WebGL says so, and tells the same in a list", async () => {
    const context = await dashboard.browser();
    await context.addInitScript(
      "const known = HTMLCanvasElement.prototype.getContext;" +
        "HTMLCanvasElement.prototype.getContext = function (kind, ...rest) { return /webgl/.test(kind) ? null : known.call(this, kind, ...rest); }",
    );
    const page = await context.newPage();
    await page.goto(`${dashboard.url}/jobs/${job_id}/map?stage=tiles`);
    await page.getByText("The map cannot be drawn here.").waitFor();
    const first = page.getByRole("table", { name: "Tasks on the map" }).getByRole("row").nth(1);
    await first.getByText("failed").waitFor();
    await first.getByText(/45\.90° N, 8\.00° E/).waitFor();
    await first.getByRole("link").click();
    await page.waitForURL(`${dashboard.url}/tasks/${stage_id}-${failing[0]}`);
  });

  test.skipIf(!has_catalog)("a click opens the task, or the card of an output with its picture", async () => {
    const page = await shown(`/jobs/${spot_id}/map?stage=look`);
    await page.getByText("1 of 1 tasks say where they are").waitFor();
    const middle = async () => {
      const { x, y, width, height } = (await page.locator(".map-canvas").boundingBox())!;
      return [x + width / 2, y + height / 2] as const;
    };
    // Drawn when the pointer finds it.
    const find = async (text: RegExp) => {
      const card = page.locator(".map-card").getByText(text);
      await expect
        .poll(
          async () => {
            const [x, y] = await middle();
            await page.mouse.move(x + 3, y);
            await page.mouse.move(x, y);
            return card.isVisible();
          },
          { timeout: 60_000 },
        )
        .toBe(true);
    };
    await page.getByText("Outputs").click();
    await find(/Rome/);
    await page.mouse.click(...(await middle()));
    const card = page.locator(".map-card.pinned");
    await card.getByRole("img", { name: "Quicklook of Rome" }).waitFor();
    await card.getByRole("link", { name: "Rome" }).waitFor();
    await page.waitForURL(/layer=outputs/);
    await page.getByText("Tasks", { exact: true }).last().click();
    await find(/Task 0/);
    await page.mouse.click(...(await middle()));
    await page.waitForURL(/\/tasks\/\d+-0$/);
  });

  test.skipIf(!has_catalog)(
    "the catalogue shows collections, items by search and by view, and one item whole",
    async () => {
      const page = await shown("/catalog");
      await page.getByRole("link", { name: "Alps, from above" }).click();
      await page.getByText("24 items").waitFor();
      await page.getByRole("img", { name: "Quicklook of Tile 23" }).waitFor();
      await dashboard.axe();
      // Rome lies outside of what the collection says it covers.
      await page.getByLabel("Only what the map shows").uncheck();
      await page.getByText("25 items").waitFor();
      await page.getByLabel("Find").fill("tile-2 gsd>=30");
      await page.getByText("3 items.", { exact: true }).waitFor();
      await page.waitForURL((url) => url.searchParams.get("q") === "tile-2 gsd>=30");
      await page.getByLabel("Find").fill("nothing-like-it");
      await page.getByText("No item fits.").waitFor();
      await page.getByRole("button", { name: "Clear" }).click();

      await dashboard.go("/catalog/alps/tile-3");
      await page.getByRole("heading", { level: 1 }).getByText('Tile <img src=x onerror="alert(1)">').waitFor();
      await page.getByRole("img", { name: /Quicklook of Tile/ }).waitFor();
      await page.getByRole("link", { name: `task ${stage_id}-3` }).waitFor();
      await page.getByText("12.3 MB").waitFor();
      const fills = () =>
        page
          .locator(".map-canvas")
          .evaluate((place) => place.querySelector("canvas")?.clientWidth === place.clientWidth);
      await expect.poll(fills).toBe(true);
      await dashboard.axe();
      await dashboard.width(360);
      await dashboard.expectNoSideways();
      await expect.poll(fills).toBe(true);
      await dashboard.theme("dark");
      await dashboard.axe(page, ["color-contrast"]);

      // A picture elsewhere is a link, never loaded: the harness would tell.
      await dashboard.go("/catalog/alps/tile-1");
      await page.getByRole("link", { name: "pictures.example.com" }).waitFor();
      await dashboard.go("/catalog/alps");
      await dashboard.expectNoSideways();
    },
  );

  test("another tenant sees nothing of it", async () => {
    const page = await dashboard.open("/", { tenant: "globex" });
    dashboard.allow(/404 GET .*\/api\/jobs\//);
    await dashboard.go(`/jobs/${job_id}/map?stage=tiles`);
    await page.getByText(/there is no job/).waitFor();
    if (!has_catalog) return;
    await dashboard.go("/catalog");
    await page.getByText("The catalogue is empty").waitFor();
  });
});
