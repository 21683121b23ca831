import { test } from "vitest";
import { tellStory } from "./raster_story.js";
import { catalogHere } from "./raster_world.js";

const { skip, name } = await catalogHere("server");

test.skipIf(skip)(
  `32 scenes, 7 of them broken, three kills and a database crash: 25 items, then 32 by a resume${name}`,
  { timeout: 600_000 },
  () => tellStory({ scenes: 32, broken: [2, 6, 15, 16, 22, 28, 31], workers: 2, slots: 1 }),
);
