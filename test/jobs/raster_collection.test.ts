import { test } from "vitest";
import { tellStory } from "./raster_story.js";
import { catalogHere } from "./raster_world.js";

const { skip, name } = await catalogHere("server");

test.skipIf(skip)(
  `60 scenes, 7 of them broken, three kills and a database crash: 53 items, then 60 by a resume${name}`,
  { timeout: 600_000 },
  () => tellStory({ scenes: 60, broken: [4, 11, 29, 30, 41, 52, 59], workers: 2, slots: 1 }),
);
