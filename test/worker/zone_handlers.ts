// Isolated handlers that use zones.
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { defineHandler } from "../../src/core/declare/declare.js";
import { Transient } from "../../src/core/errors/errors.js";

const here = { isolation: "process", module: import.meta.url, memory_mb: 512 } as const;

export const tile = { zone: "silver", prefix: "dem/tile-1", name: "cog.tif", media_type: "image/tiff" } as const;

/** Takes a source from bronze, and publishes what it made of it. */
export const makes_tile = defineHandler("makes_tile", here, async ({ fail_first = false }, ctx) => {
  const dir = await ctx.scratch();
  const source = { zone: "bronze", key: "in/source.txt" } as const;
  const { entries } = await ctx.zones.list("bronze", "in/");
  const stat = await ctx.zones.stat(source);
  const head = Buffer.from(await ctx.zones.read(source, 0, 4)).toString();
  const taken = await ctx.zones.download(source, join(dir, "source.txt"), { max_bytes: 100 });
  writeFileSync(join(dir, "cog.tif"), `${await readFile(join(dir, "source.txt"), "utf8")} as a tile`);
  const asset = await ctx.zones.publish(join(dir, "cog.tif"), tile);
  if (fail_first && ctx.attempt === 1) throw new Transient("again");
  return { keys: entries.map(({ key }) => key), bytes: stat?.bytes, head, taken: taken.bytes, asset };
});

/** Every way out of the scratch directory that comes to mind; gives what each was answered. */
export const strays = defineHandler("strays", here, async ({ outside }, ctx) => {
  const dir = await ctx.scratch();
  mkdirSync(join(dir, "sub"));
  symlinkSync(join(outside, "secret.txt"), join(dir, "link.tif"));
  symlinkSync(outside, join(dir, "folder"));
  writeFileSync(join(dir, "own.tif"), "x");
  const asked: Record<string, () => Promise<unknown>> = {
    outside: () => ctx.zones.publish(join(outside, "secret.txt"), tile),
    up: () => ctx.zones.publish(`${dir}/../../secret.txt`, tile),
    link: () => ctx.zones.publish(join(dir, "link.tif"), tile),
    through_folder: () => ctx.zones.publish(join(dir, "folder", "secret.txt"), tile),
    folder: () => ctx.zones.publish(join(dir, "sub"), tile),
    relative: () => ctx.zones.publish("own.tif", tile),
    missing: () => ctx.zones.publish(join(dir, "none.tif"), tile),
    number: () => ctx.zones.publish(5 as never, tile),
    into_outside: () => ctx.zones.download({ zone: "bronze", key: "in/source.txt" }, join(outside, "new.txt")),
    over_own: () => ctx.zones.download({ zone: "bronze", key: "in/source.txt" }, join(dir, "own.tif")),
    through_link: () => ctx.zones.download({ zone: "bronze", key: "in/source.txt" }, join(dir, "folder", "new.txt")),
    own: () => ctx.zones.publish(join(dir, "own.tif"), tile),
  };
  const answers: Record<string, string> = {};
  for (const [name, ask] of Object.entries(asked)) {
    answers[name] = await ask().then(
      () => "done",
      (error: Error & { code?: string }) => `${error.code}: ${error.message}`,
    );
  }
  return answers;
});

export const retracts = defineHandler("retracts", here, async ({ zone, key }, ctx) => ctx.zones.retract({ zone, key }));

export const tells_zone_environment = defineHandler("tells_zone_environment", here, () => process.env);
