// Files of zones, as the addresses of assets name them. Answered by src/server/files/zone_files.ts, past the usual routes: it speaks of ranges
// and goes by signatures too. Pure.
import { z } from "zod";
import { zone_names } from "../../places/zones.js";
import { endpointsOf } from "../endpoint.js";

const endpoint = endpointsOf({ tag: "stac", scope: "read" });

export const zone_files_api = {
  read: endpoint("GET /assets/{zone}/{key}", {
    summary: "Read a file that items of the catalogue name",
    description:
      "The bytes of an asset, whole or by `Range`, with a strong `ETag`; HEAD returns its headers only. The key may have " +
      "slashes in it. Needs a key with the scope read, or an address that was signed here, as the items of a search have it. " +
      "What lies in a bucket is answered with a redirect to an address that the store has signed.",
    params: z.strictObject({
      zone: z.enum(zone_names).describe("The zone it lies in"),
      key: z.string().min(1).max(1024).describe("Its key within the zone, such as dem/scene-1/cog.tif"),
    }),
    reply: z.unknown().describe("The bytes of the file"),
    media_type: "application/octet-stream",
    other_answers: {
      206: { description: "The part that `Range` asks for", media_type: "application/octet-stream" },
      302: { description: "It lies in a bucket", headers: { location: "Where, signed by the store" } },
      304: { description: "It is what `If-None-Match` names" },
    },
    errors: [416],
  }),
};
