// Which palette a layer's steps are said to be of.
import { expect, test } from "vitest";
import { paletteOf, palettes, ramp } from "../../dashboard/src/pages/layers/style_classes.js";
import { heights_style } from "../../src/cli/demo/demo_world_plan.js";

const steps = (colours: readonly string[]) => ({ classes: colours.map((colour, value) => ({ value, colour })) });

test.each(Object.entries(palettes))("steps out of %s are said to be of it, however many", (name, stops) => {
  for (const count of [2, 5, 12]) expect(paletteOf(steps(ramp(stops, count)))).toBe(name);
});

test("colours put together by hand are of none, whatever palette is usual", () => {
  expect(paletteOf(heights_style.style)).toBeNull();
  expect(paletteOf(steps(ramp(palettes.heat!, 5).toReversed()))).toBeNull();
});
