// How every raster job ends: items by hundreds, each hundred committed with its task, then the collection's extent. Important and
// not critical: when only the catalogue fails, the COGs are there and of use, and a resume adds the items.
import type { StageDeclaration } from "../core/declare/declare.js";

/** How many of many may fail is the caller's to say, at submit: `--stage-option cog.failure_budget.percent=80`. */
export const any_share = { failure_budget: { percent: 100 } } as const;

const is_asked = "!($.parameters.register == false)";

export const catalog_stages: readonly StageDeclaration[] = [
  {
    name: "register",
    task: "stac.register",
    description: "STAC items in the catalogue",
    parallelism: "fan_in",
    batch: 100,
    importance: "important",
  },
  {
    name: "publish",
    task: "stac.finalize",
    description: "The collection is brought up to date with what is in it",
    parallelism: "fan_in",
    importance: "important",
  },
];

/** For jobs that may leave the catalogue to another job. */
export const asked_catalog_stages: readonly StageDeclaration[] = catalog_stages.map((stage) => ({
  ...stage,
  when: is_asked,
}));
