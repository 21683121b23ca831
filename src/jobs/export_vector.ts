// export_vector: a layer into files in zone gold, with a manifest of checksums and an item in the catalogue.
//
//   snapshot → write → publish
//
// What goes wrong, and what then happens:
//   an export of that name is there          overwrite=refuse: the job fails at snapshot, before any work; replace: its files go when the
//                                            new ones are there
//   the layer changes meanwhile              nothing: the snapshot is of one version, and the item says which
//   a worker dies while it writes            nothing of it is seen; another writes the same rows from the same snapshot
//   a format cannot be written here          the job fails at write with what is missing; nothing is published
//   the catalogue cannot be written          the job fails at publish, the files are there; resume adds the item
import { z } from "zod";
import { defineJob } from "../core/declare/declare.js";
import { vector_export_fields, vectorExportChecks } from "../handlers/export/settings.js";

export const exportVector = defineJob({
  type: "export_vector",
  description: "A layer into GeoParquet, FlatGeobuf, GeoPackage, PMTiles or CSV in zone gold",
  parameters: z.object(vector_export_fields).superRefine(vectorExportChecks),
  stages: [
    { name: "snapshot", task: "export.snapshot", description: "The layer is copied as it is, in spatial order" },
    {
      name: "write",
      task: "export.write_vector",
      description: "Files and manifest in the gold zone",
      tasks: async function* ({ parameters, previous }) {
        yield { index: "files", parameters: { settings: parameters, snapshot: await previous.one() } };
      },
    },
    {
      name: "publish",
      task: "export.publish",
      description: "The item in the catalogue; what it replaces goes",
      after: ["snapshot", "write"],
      tasks: function* ({ parameters }) {
        yield { index: "item", parameters: { settings: parameters } };
      },
    },
  ],
});
