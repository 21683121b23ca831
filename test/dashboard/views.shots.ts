// Photographs every view, light and dark, wide and narrow, into screenshots/; three of them, made small, are the README's. Not part
// of `npm test`: `npm run screenshots`. FANFOLD_SHOTS=job,job_map takes only those.
import { copyFile, mkdir } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import type { Page } from "playwright-core";
import { test } from "vitest";
import { withoutPostgis } from "../catalog_packages.js";
import { describeInBrowser, type Theme } from "./browser.js";
import { views } from "./views.js";
import { fillCatalog, fillWorld, type World, world_parts, world_types } from "./world.js";

const root = fileURLToPath(new URL("../..", import.meta.url));
const folder = join(root, "screenshots");
/** By view, theme and width: what the README shows. */
const chosen: Record<string, string> = {
  "job_running-light-1280": "job",
  "job_tasks-dark-1280": "heat",
  "job_map-light-1280": "map",
};
const wanted = new Set((process.env.FANFOLD_SHOTS ?? "").split(",").filter(Boolean));
const without_catalog = await withoutPostgis();

let world: World;
describeInBrowser(
  "screenshots",
  {
    parts: world_parts,
    worker: { types: world_types, slots: 12 },
    variant: without_catalog === null ? "stac" : "app",
    async prepare(service) {
      await mkdir(folder, { recursive: true });
      if (without_catalog === null) await fillCatalog(service);
      world = await fillWorld(service);
      // Under way means that some of it is done.
      const done = async () => (await service.engine.status(world.running)).stages[1]?.completed ?? 0;
      while ((await done()) < 36) await sleep(1000);
    },
  },
  (dashboard) => {
    test.each<Theme>(["light", "dark"])("of every view, %s", { timeout: 900_000 }, async (theme) => {
      const page = await dashboard.open("/", { theme });
      for (const width of [1280, 360]) {
        await dashboard.width(width);
        const shown = views.filter(({ name, catalog }) => {
          return (wanted.size === 0 || wanted.has(name)) && (catalog !== true || without_catalog === null);
        });
        for (const { name, path, ready, draws } of shown) {
          try {
            // A map that is cut off shows little.
            await page.setViewportSize({ width, height: draws === true && width > 600 ? 1040 : 860 });
            await dashboard.go(path(world));
            await ready?.(page);
            await quiet(page, draws === true ? 5_000 : 700);
            await shoot(page, `${name}-${theme}-${width}`);
          } catch (error) {
            process.stderr.write(`${name}-${theme}-${width}: ${String(error).split("\n")[0]}\n`);
            await shoot(page, `${name}-${theme}-${width}-failed`);
          }
        }
      }
      const stranger = await (await dashboard.browser(null)).newPage();
      await stranger.emulateMedia({ colorScheme: theme });
      for (const width of [1280, 360]) {
        await dashboard.width(width, stranger);
        await stranger.goto(`${dashboard.url}/sign-in`);
        await stranger.getByLabel("API key").waitFor();
        await shoot(stranger, `sign_in-${theme}-${width}`);
      }
    });
  },
);

/** Until nothing is drawn as still loading, and the map has its tiles. */
async function quiet(page: Page, ms: number): Promise<void> {
  await page
    .locator(".skeleton")
    .first()
    .waitFor({ state: "detached", timeout: 10_000 })
    .catch(() => {});
  await page.waitForTimeout(ms);
}

async function shoot(page: Page, name: string): Promise<void> {
  const kept = chosen[name];
  await page.screenshot({ path: join(folder, `${name}.png`), fullPage: kept === undefined, animations: "disabled" });
  if (kept === undefined) return;
  await mkdir(join(root, "docs", "images"), { recursive: true });
  await copyFile(join(folder, `${name}.png`), join(root, "docs", "images", `${kept}.png`));
}
