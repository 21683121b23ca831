// Requests and datasets of the lively service: one published, its next version before a reviewer, one that failed, one under way.
import { z } from "zod";
import { defineHandler, defineJob } from "../../src/core/declare/declare.js";
import { defineRecipe } from "../../src/core/declare/recipe.js";
import type { TestService } from "../server/service.js";

export const requests_parts = {
  jobs: [
    defineJob({
      type: "check_region",
      parameters: z.object({ region: z.string() }),
      stages: [{ name: "look", task: "region.check", description: "the region is known" }],
    }),
    defineJob({
      type: "publish_cover",
      parameters: z.object({ region: z.string(), collection: z.string() }),
      stages: [{ name: "publish", task: "region.publish", description: "the mosaic is in the catalogue" }],
    }),
  ],
  handlers: [
    defineHandler("region.check", {}, () => ({ crs: "EPSG:3035", scenes: 37 })),
    defineHandler("region.publish", {}, () => ({ links: { collection: "/stac/collections/land-cover" } })),
  ],
  recipes: [
    defineRecipe({
      data_type: "land_cover",
      description: "Land cover of a region, published after a review",
      accepts: { extensions: [".geojson"], max_files: 1 },
      approval: true,
      parameters: z.object({
        region: z.string().min(1).describe("Its name, for people"),
        tiles: z.int().min(1).default(24).describe("How many tiles it is cut into"),
        season: z.enum(["spring", "summer", "autumn", "winter"]).default("summer"),
        seconds_per_tile: z.number().min(0).default(0),
      }),
      jobs: [
        { name: "validate", job: "check_region", parameters: { region: "{parameters.region}" } },
        { name: "cover", job: "land_cover", parameters: { "...": "{request.parameters}" } },
        {
          name: "readings",
          job: "station_import",
          after: ["validate"],
          importance: "optional" as const,
          parameters: { stations: 3, day: "2031-05-14" },
        },
        {
          name: "publish",
          job: "publish_cover",
          after: ["cover", "readings"],
          gate: "Publish this land cover?",
          parameters: { region: "{parameters.region}", collection: "{request.names.collection}" },
        },
      ],
    }),
    defineRecipe({
      data_type: "stations",
      description: "Readings of measuring stations",
      accepts: { extensions: [".csv"] },
      parameters: z.object({ stations: z.int().min(1), day: z.iso.date() }),
      jobs: [{ name: "import", job: "station_import", parameters: { "...": "{request.parameters}" } }],
    }),
  ],
};

export const requests_types = ["region.check", "region.publish"];

export interface RequestWorld {
  /** Completed and approved. */
  published: string;
  /** The version after it, at its gate. */
  reviewed: string;
  /** Failed, with errors in groups. */
  request_failed: string;
}

export async function fillRequests(service: TestService, tenant: string): Promise<RequestWorld> {
  const { requests } = service.engine.forTenant(tenant);
  const ask = async (version_id: string, more: object) => {
    const body = { dataset_id: "land-cover", resource_id: "alps", version_id, client_id: "portal", ...more };
    const { request_id } = await requests.submit(body, { actor: "Mara" });
    return request_id;
  };
  const settled = async (id: string) => {
    for (;;) {
      const { finished_at, waits_for_approval } = await requests.get(id);
      if (finished_at !== null || waits_for_approval !== null) return;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  };
  const published = await ask("2030", {
    files: ["bronze:regions/alps-2030.geojson"],
    parameters: { region: "Alps", tiles: 12 },
  });
  const request_failed = await ask("2031-05-14", {
    dataset_id: "stations",
    resource_id: "readings",
    files: ["bronze:stations/2031-05-14.csv"],
    parameters: { stations: 40, day: "2031-05-14" },
  });
  await settled(published);
  await requests.decide(published, { approved: true, reason: "compared with last year's by hand", actor: "Jonas" });
  await settled(published);
  const reviewed = await ask("2031", {
    files: ["bronze:regions/alps-2031.geojson"],
    parameters: { region: "Alps", tiles: 18, season: "autumn" },
  });
  await ask("2029", {
    resource_id: "jura",
    files: ["bronze:regions/jura.geojson"],
    parameters: { region: "Jura", tiles: 24, seconds_per_tile: 8 },
  });
  for (const id of [reviewed, request_failed]) await settled(id);
  return { published, reviewed, request_failed };
}
