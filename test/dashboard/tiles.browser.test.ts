// An item's raster on the map as tiles, in a real browser: of a reference system in which a quicklook would lie askew.
import { expect, test } from "vitest";
import { withoutPostgis } from "../catalog_packages.js";
import { systemGdal } from "../gdal_bin.js";
import type { TestService } from "../server/service.js";
import { makeCog, putItem } from "../server/tiles/made_cogs.js";
import { describeInBrowser } from "./browser.js";

const can_run = (await systemGdal()).available && (await withoutPostgis()) === null;

const options = {
  ...(can_run ? { variant: "stac" as const } : {}),
  async prepare(service: TestService) {
    if (!can_run) return;
    const cog = await makeCog(
      {
        width: 600,
        height: 600,
        bands: 1,
        type: "Byte",
        value: (column, row) => (column + row) % 250,
        srs: "EPSG:3035",
        corners: [4_676_000, 3_043_000, 4_706_000, 3_013_000],
      },
      ["COMPRESS=DEFLATE"],
    );
    await putItem(service.engine, cog, { id: "askew", bbox: [14.95, 50.1, 15.43, 50.4] });
  },
};

describeInBrowser("raster tiles", options, (dashboard) => {
  test.skipIf(!can_run)("an item's map shows its raster, drawn by this server for whoever is signed in", async () => {
    const page = await dashboard.open("/catalog");
    const drawn: number[] = [];
    page.on("response", (response) => {
      if (/\/tiles\/made\/askew\/\d+\/\d+\/\d+\.png$/.test(response.url())) drawn.push(response.status());
    });
    await page.goto(`${dashboard.url}/catalog/made/askew`);
    await page.locator(".map-canvas[data-ready]").waitFor();
    await expect.poll(() => drawn.includes(200), { timeout: 30_000 }).toBe(true);
    expect(drawn.filter((status) => status !== 200 && status !== 204)).toEqual([]);
  });
});
