// What the tests of requests and datasets look at: a recipe with a gate of its own and one whose files may be broken, beside the built-in ones.
import { z } from "zod";
import { defineHandler, defineJob } from "../../src/core/declare/declare.js";
import { defineRecipe } from "../../src/core/declare/recipe.js";
import { Permanent } from "../../src/core/errors/errors.js";
import { builtinRegistry } from "../../src/jobs/index.js";
import type { TestService } from "../server/service.js";

/** Files that are no table until they are mended. */
export const broken = new Set<string>();

const job = (type: string) =>
  defineJob({
    type,
    parameters: z.looseObject({}),
    stages: [{ name: "rows", task: "scene.rows", max_attempts: 1 }],
  });

const table = defineRecipe({
  data_type: "table",
  description: "One table, published after a look",
  accepts: { extensions: [".csv"], max_files: 1 },
  approval: true,
  parameters: z.object({
    delimiter: z.string().min(1).max(1).default(",").describe("What stands between two columns"),
    skip: z.int().min(0).default(0).describe("Lines before the first row"),
  }),
  jobs: [
    { name: "validate", job: "check_table", parameters: { file: "{request.files.0}" } },
    { name: "load", job: "load_table", parameters: { file: "{request.files.0}", skip: "{parameters.skip}" } },
    { name: "profile", job: "profile_table", after: ["validate"], importance: "optional" as const },
    {
      name: "publish",
      job: "publish_table",
      after: ["load", "profile"],
      gate: "Publish this table?",
      parameters: { file: "{request.files.0}" },
    },
  ],
});

const builtin = builtinRegistry();
export const scene_parts = {
  jobs: [...(builtin.jobs ?? []), ...["check_table", "load_table", "profile_table", "publish_table"].map(job)],
  recipes: [...(builtin.recipes ?? []), table],
  handlers: [
    ...(builtin.handlers ?? []),
    defineHandler("scene.rows", {}, (parameters, ctx) => {
      if (broken.has(parameters.file)) throw new Permanent(`${parameters.file} is no table`, { code: "no_table" });
      ctx.deliver({ name: "rows", location: "gold:tables" });
      return { rows: 144, skip: parameters.skip ?? 0 };
    }),
  ],
};

export function asked(version_id: string, more: object = {}) {
  return {
    dataset_id: "census",
    resource_id: "people",
    version_id,
    files: [`bronze:census-${version_id}.csv`],
    client_id: "portal",
    ...more,
  };
}

/** Until it is where it should be: at a gate, or at its end. */
export async function settled(service: TestService, request_id: string): Promise<void> {
  for (;;) {
    const { finished_at, waits_for_approval } = await service.engine.requests.get(request_id);
    if (finished_at !== null || waits_for_approval !== null) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
