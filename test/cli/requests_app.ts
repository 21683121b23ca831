// A recipe whose jobs succeed, fail or fail in part as the names of the files say, with an approval when asked for.
import { z } from "zod";
import { defineHandler, defineJob } from "../../src/core/declare/declare.js";
import { defineRecipe } from "../../src/core/declare/recipe.js";
import { Permanent } from "../../src/core/errors/errors.js";

const read = defineHandler("parcel.read", { parameters: z.object({ file: z.string() }) }, ({ file }) => {
  if (file.includes("bad")) throw new Permanent(`${file} is no parcel`, { code: "no_parcel" });
  return { file };
});

const check = defineJob({
  type: "check_parcels",
  parameters: z.object({ files: z.array(z.string()) }),
  stages: [
    {
      name: "read",
      task: "parcel.read",
      tasks: { each: "$.files[*]", parameters: { file: "{item}" } },
      failure_budget: { percent: 50 },
    },
  ],
});

const shelve = defineJob({
  type: "shelve_parcels",
  parameters: z.object({ name: z.string() }),
  stages: [{ name: "shelve", task: "parcel.shelve" }],
});

export default {
  jobs: [check, shelve],
  handlers: [read, defineHandler("parcel.shelve", {}, () => ({ shelved: true }))],
  recipes: [
    defineRecipe({
      data_type: "parcels",
      accepts: { extensions: [".csv"] },
      parameters: z.object({ approval: z.boolean().default(false) }),
      jobs: [
        { name: "check", job: "check_parcels", parameters: { files: "{request.files}" } },
        { name: "shelve", job: "shelve_parcels", parameters: { name: "{request.names.item}" } },
      ],
    }),
  ],
};
