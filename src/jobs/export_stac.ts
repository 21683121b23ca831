// export_stac: a collection of the catalogue into files that need no service: a static STAC catalogue, stac-geoparquet, or both.
//
//   write → publish
//
// What goes wrong, and what then happens:
//   an export of that name is there          overwrite=refuse: the job fails at write, before any file; replace: its files go when the new
//                                            ones are there
//   there are too many items for files       the job fails at write and says what to take instead
//   a worker dies while it writes            nothing of it is seen; another writes it from the beginning
import { z } from "zod";
import { defineJob } from "../core/declare/declare.js";
import { stac_export_fields } from "../handlers/export/settings.js";

export const exportStac = defineJob({
  type: "export_stac",
  description: "A collection into a static STAC catalogue and stac-geoparquet in zone gold",
  parameters: z.object(stac_export_fields),
  stages: [
    { name: "write", task: "export.write_stac", description: "Records and manifest in the gold zone" },
    {
      name: "publish",
      task: "export.publish_stac",
      description: "The item in the catalogue; what it replaces goes",
    },
  ],
});
