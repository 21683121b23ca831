// The pages of vector layers in a real browser: live tiles under the page's strict policy, a filter that map and table share, a style that is
// kept, and links that show another person the same.
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { withoutPostgis } from "../catalog_packages.js";
import type { TestService } from "../server/service.js";
import { describeInBrowser } from "./browser.js";
import { fillLayers, hexagon_count, station_count } from "./layers_world.js";

const has_layers = (await withoutPostgis()) === null;
const name = "land-cover-hexagons";

if (has_layers) {
  describeInBrowser(
    "layers",
    { variant: "stac", prepare: (service: TestService) => fillLayers(service) },
    (dashboard) => {
      /** The page with a map that has drawn, and the tiles it asked for. */
      async function shown(path: string): Promise<{ page: Page; tiles: string[] }> {
        const page = await dashboard.open("/layers");
        const tiles: string[] = [];
        page.context().on("response", (response) => {
          if (/\/tiles\/WebMercatorQuad\/\d/.test(response.url())) tiles.push(`${response.status()} ${response.url()}`);
        });
        await dashboard.go(path);
        await page.locator(".map-canvas[data-ready]").waitFor();
        return { page, tiles };
      }

      test("the list tells what there is, and leads to a map of live tiles and a table", async () => {
        const { page, tiles } = await shown("/layers");
        const row = page.getByRole("row", { name: /Land cover by hexagon/ });
        await row.getByText(String(hexagon_count)).waitFor();
        await row.getByRole("link", { name: "24" }).waitFor();
        await dashboard.axe();
        await page.getByLabel("Find").fill("station");
        await row.waitFor({ state: "detached" });
        await page.getByRole("link", { name: "Measuring stations" }).click();
        await page.getByRole("heading", { name: "Measuring stations", level: 1 }).waitFor();
        await page.getByText(`50 of ${station_count} features`).waitFor();
        await expect.poll(() => tiles.length).toBeGreaterThan(0);
        expect(
          tiles.every((one) => /^20[04] /.test(one)),
          tiles.join("\n"),
        ).toBe(true);
        await dashboard.axe();
      });

      test("a filter holds for the map and the table, is told what is wrong with it, and is put together of its parts", async () => {
        const { page, tiles } = await shown(`/layers/${name}`);
        await page.getByText(`50 of ${hexagon_count} features`).waitFor();
        await page.getByRole("textbox", { name: "Filter" }).fill("forest > 80");
        await page.getByText(/^(\d) of \1 features\.$/).waitFor();
        await expect.poll(() => tiles.some((one) => one.startsWith("200") && one.includes("filter=forest"))).toBe(true);
        const condition = page.getByRole("form", { name: "Add a condition" });
        await condition.getByLabel("Column").selectOption("cover");
        await condition.getByLabel("Comparison").selectOption("=");
        await condition.getByLabel("Value").fill("ice");
        await condition.getByRole("button", { name: "Add" }).click();
        await page.waitForURL((url) => url.searchParams.get("filter") === "forest > 80 AND cover = 'ice'");
        await expect.poll(() => page.locator('td[data-column="cover"]').allInnerTexts()).not.toContain("rock");
        dashboard.allow(/400 GET .*items/);
        await page.getByRole("textbox", { name: "Filter" }).fill("wood > 1");
        await page.getByText(/there is no property "wood"/).waitFor();
        await page.getByRole("textbox", { name: "Filter" }).fill("forest > 1000");
        await page.getByText("No feature fits").waitFor();
      });

      test("colours by a column are chosen, shared by the address, kept for everybody, and taken away again", async () => {
        const { page, tiles } = await shown(`/layers/${name}`);
        await page.getByLabel("Colour by").selectOption("forest");
        const legend = page.getByRole("list", { name: "Colours by forest" });
        await expect.poll(() => legend.getByRole("listitem").count()).toBe(6);
        await expect.poll(() => tiles.some((one) => one.includes("properties=forest"))).toBe(true);
        await page.getByLabel("With").selectOption("categories");
        await page.getByLabel("Colour by").selectOption("cover");
        await page.getByRole("list", { name: "Colours by cover" }).getByText("rock").waitFor();
        const address = page.url();
        const other = await (await dashboard.browser()).newPage();
        await other.goto(address);
        await other.getByRole("list", { name: "Colours by cover" }).getByText("rock").waitFor();
        await page.getByRole("button", { name: "Keep it for everybody" }).click();
        await page.getByText("This is how everybody sees it.").waitFor();
        await page.waitForURL((url) => !url.searchParams.has("by"));
        await page.getByRole("list", { name: "Colours by cover" }).getByText("rock").waitFor();
        const key = await dashboard.service.key();
        const { body } = await dashboard.service.call("GET", `/api/layers/${name}`, { key });
        expect(body.style).toMatchObject({ kind: "categories", column: "cover" });
        await dashboard.axe();
        await page.getByRole("button", { name: "Remove the style" }).click();
        await page.getByRole("list", { name: "Colours by cover" }).waitFor({ state: "detached" });
      });

      test("a click on the map tells of the feature there, as one in the table does", async () => {
        const { page } = await shown(`/layers/${name}?view=9,45.5,10,46.5`);
        const card = page.locator(".map-card.pinned");
        // Drawn when a click finds it.
        await expect
          .poll(
            async () => {
              const { x, y, width, height } = (await page.locator(".map-canvas").boundingBox())!;
              await page.mouse.click(x + width / 2 + 20, y + height / 2 + 5);
              return card.isVisible();
            },
            { timeout: 60_000 },
          )
          .toBe(true);
        await card.getByText("forest").first().waitFor();
        await card.getByRole("button", { name: "Close" }).click();
        await card.waitFor({ state: "detached" });
        await page.getByRole("button", { name: "7", exact: true }).click();
        await card.getByText("Feature 7").waitFor();
        await card.getByRole("button", { name: "Zoom to it" }).click();
        await page.waitForURL(
          (url) => url.searchParams.get("feature") === "7" && !url.searchParams.get("view")!.startsWith("9,"),
        );
        await page.getByRole("button", { name: "Share" }).click();
        const dialog = page.getByRole("dialog", { name: "Share" });
        await dialog.getByText(/f=tilejson/).waitFor();
        await dashboard.axe();
      });

      test("versions tell how columns changed, rejects why rows were not taken, and columns where they come from", async () => {
        const page = await dashboard.open(`/layers/${name}/versions`);
        await page
          .getByRole("row", { name: /served now/ })
          .getByText("cover, tiles, seen")
          .waitFor();
        await dashboard.axe();
        await page
          .getByRole("row", { name: /served now/ })
          .getByRole("link", { name: "24" })
          .click();
        await page.getByText("has no geometry").first().waitFor();
        await page.getByLabel("Reason").selectOption("bad_value");
        await page.getByText("has no geometry").first().waitFor({ state: "detached" });
        await page
          .getByText(/double precision: "n\/a"/)
          .first()
          .waitFor();
        await dashboard.axe();
        await dashboard.go(`/layers/${name}/columns`);
        await page.getByRole("cell", { name: "forest", exact: true }).waitFor();
        await dashboard.axe();
      });

      test("in a narrow and dark window nothing is cut off, and another tenant sees nothing", async () => {
        const { page } = await shown(`/layers/${name}?by=forest`);
        await page.getByRole("list", { name: "Colours by forest" }).waitFor();
        await dashboard.width(360);
        await dashboard.theme("dark");
        for (const path of [
          `/layers/${name}?by=cover`,
          `/layers/${name}/rejects`,
          `/layers/${name}/versions`,
          "/layers",
        ]) {
          await dashboard.go(path);
          await dashboard.expectNoSideways();
          await dashboard.axe(page, ["color-contrast"]);
        }
        dashboard.allow(/404 GET .*\/api\/layers\//);
        await dashboard.signIn({ tenant: "globex" }, page.context());
        await dashboard.go("/layers");
        await page.getByText("No layers yet").waitFor();
        await dashboard.go(`/layers/${name}`);
        await page.getByText(/there is no layer/).waitFor();
      });
    },
  );
}
