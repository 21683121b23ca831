// unpublish_vector: takes layers out of the catalogue, with their STAC items; their tables go ten minutes later, their history stays. A dry
// run unless told otherwise.
import { z } from "zod";
import { defineJob } from "../core/declare/declare.js";
import { removal_fields } from "../handlers/vector/handlers/remove.js";

export const unpublishVector = defineJob({
  type: "unpublish_vector",
  description: "Layers out of the catalogue, with their items: the reverse of process_vector",
  parameters: z.object(removal_fields).superRefine(({ layers, job_id }, refinement) => {
    if (layers !== undefined || job_id !== undefined) return;
    refinement.addIssue({ code: "custom", path: ["layers"], message: "is missing: give it, or job_id" });
  }),
  stages: [{ name: "remove", task: "vector.remove", description: "Layers and items are gone, or are told" }],
});
