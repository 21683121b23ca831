import { test } from "vitest";
import { tellStory } from "./raster_story.js";
import { catalogHere } from "./raster_world.js";

const { skip, name } = await catalogHere("server");

test.skipIf(skip)(
  `200 scenes, 7 of them broken, three kills and a database crash: 193 items, then 200 by a resume${name}`,
  { timeout: 600_000 },
  () => tellStory({ scenes: 200, broken: [4, 41, 99, 100, 150, 177, 199], workers: 2, slots: 1 }),
);
