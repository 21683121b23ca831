import { test } from "vitest";
import { tellStory } from "./raster_story.js";
import { catalogHere } from "./raster_world.js";

const { skip, name } = await catalogHere("server");

test.skipIf(skip)(
  `1,924 scenes, 7 of them broken, three kills and a database crash: 1,917 items, then 1,924 by a resume${name}`,
  { timeout: 7_200_000 },
  () => tellStory({ scenes: 1924, broken: [4, 412, 990, 1000, 1501, 1770, 1923], workers: 2, slots: 2 }),
);
