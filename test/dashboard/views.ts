// Every view of the dashboard by name and address, in the world of the tests: what axe walks, and what is photographed.
import type { Page } from "playwright-core";
import type { World } from "./world.js";

export interface View {
  name: string;
  path(world: World): string;
  /** Until it shows what it is about. */
  ready?(page: Page): Promise<unknown>;
  /** A map, which is drawn long after it is there. */
  draws?: true;
  /** Only photographed: it is made of what other views show. */
  photo?: true;
  /** Only where the database has a catalogue. */
  catalog?: true;
}

const heading = (name: string | RegExp) => (page: Page) => page.getByRole("heading", { name, level: 1 }).waitFor();

export const views: readonly View[] = [
  {
    name: "jobs",
    path: () => "/jobs",
    ready: (page) =>
      page
        .getByRole("link", { name: /land_cover/ })
        .first()
        .waitFor(),
  },
  { name: "jobs_failed", path: () => "/jobs?q=status%3Afailed", ready: heading("Jobs") },
  { name: "job", path: ({ covered }) => `/jobs/${covered}`, ready: heading(/land_cover/) },
  { name: "job_running", path: ({ running }) => `/jobs/${running}`, ready: heading(/land_cover/) },
  { name: "job_gate", path: ({ gated }) => `/jobs/${gated}`, ready: heading(/replace_index/) },
  { name: "job_stuck", path: ({ stuck }) => `/jobs/${stuck}`, ready: heading(/soil_samples/) },
  {
    name: "job_tasks",
    path: ({ running }) => `/jobs/${running}/tasks`,
    ready: (page) => page.locator("canvas").first().waitFor(),
  },
  {
    name: "job_map",
    path: ({ running }) => `/jobs/${running}/map`,
    ready: (page) => page.locator("canvas").first().waitFor(),
    draws: true,
  },
  {
    name: "job_timeline",
    path: ({ covered }) => `/jobs/${covered}/timeline`,
    ready: (page) => page.locator("canvas").first().waitFor(),
  },
  { name: "job_errors", path: ({ broken }) => `/jobs/${broken}/errors`, ready: heading(/station_import/) },
  { name: "job_events", path: ({ broken }) => `/jobs/${broken}/events`, ready: heading(/station_import/) },
  { name: "job_parameters", path: ({ covered }) => `/jobs/${covered}/parameters`, ready: heading(/land_cover/) },
  { name: "task", path: ({ failed_task }) => `/tasks/${failed_task}` },
  { name: "tasks", path: () => "/tasks" },
  { name: "groups", path: () => "/groups", ready: heading("Groups") },
  { name: "group", path: () => "/groups/valleys", ready: heading("valleys") },
  {
    name: "requests",
    path: () => "/requests",
    ready: (page) => page.getByRole("link", { name: "land-cover / alps / 2031" }).waitFor(),
  },
  { name: "request", path: ({ published }) => `/requests/${published}`, ready: heading(/land-cover/), photo: true },
  {
    name: "request_gate",
    path: ({ reviewed }) => `/requests/${reviewed}`,
    ready: (page) => page.getByText("Publish this land cover?").first().waitFor(),
  },
  {
    name: "request_review",
    path: ({ reviewed }) => `/requests/${reviewed}/review`,
    ready: (page) => page.locator("[data-compared]").waitFor(),
    draws: true,
  },
  { name: "request_failed", path: ({ request_failed }) => `/requests/${request_failed}`, ready: heading(/stations/) },
  {
    name: "request_map",
    path: ({ reviewed }) => `/requests/${reviewed}/map`,
    ready: heading(/land-cover/),
    draws: true,
    photo: true,
  },
  { name: "request_events", path: ({ published }) => `/requests/${published}/events`, photo: true },
  { name: "request_asked", path: ({ reviewed }) => `/requests/${reviewed}/parameters`, photo: true },
  { name: "ask", path: ({ reviewed }) => `/requests/new?like=${reviewed}`, ready: heading("Ask for a dataset") },
  { name: "datasets", path: () => "/datasets", ready: heading("Datasets") },
  {
    name: "resource",
    path: () => "/datasets/resource?dataset=land-cover&resource=alps",
    ready: (page) => page.locator("[data-found]").waitFor(),
  },
  { name: "connectors", path: () => "/connectors", ready: heading("Connectors") },
  { name: "workers", path: () => "/workers", ready: heading("Workers") },
  { name: "queues", path: () => "/queues", ready: heading("Queues") },
  { name: "health", path: () => "/health", ready: heading("Health") },
  { name: "schedules", path: () => "/schedules" },
  { name: "schedule", path: () => "/schedules/nightly-stations" },
  { name: "webhooks", path: () => "/webhooks" },
  { name: "keys", path: () => "/keys" },
  { name: "limits", path: () => "/limits" },
  { name: "audit", path: () => "/audit" },
  { name: "submit", path: () => "/submit" },
  { name: "submit_form", path: () => "/submit/land_cover" },
  {
    name: "layers",
    path: () => "/layers",
    ready: (page) => page.getByRole("link", { name: "Measuring stations" }).waitFor(),
    draws: true,
    catalog: true,
  },
  {
    name: "layer",
    path: () => "/layers/land-cover-hexagons?by=forest",
    ready: (page) => page.getByRole("list", { name: "Colours by forest" }).waitFor(),
    draws: true,
    catalog: true,
  },
  {
    name: "layer_points",
    path: () => "/layers/stations?by=height&palette=heat&feature=12",
    ready: (page) => page.getByText("Feature 12").waitFor(),
    draws: true,
    photo: true,
    catalog: true,
  },
  { name: "layer_columns", path: () => "/layers/land-cover-hexagons/columns", photo: true, catalog: true },
  { name: "layer_versions", path: () => "/layers/land-cover-hexagons/versions", catalog: true },
  {
    name: "layer_rejects",
    path: () => "/layers/land-cover-hexagons/rejects",
    ready: (page) => page.getByText("has no geometry").first().waitFor(),
    catalog: true,
  },
  { name: "catalog", path: () => "/catalog", draws: true, catalog: true },
  {
    name: "collection",
    path: () => "/catalog/land-cover",
    ready: (page) => page.locator("canvas").first().waitFor(),
    draws: true,
    catalog: true,
  },
  { name: "item", path: () => "/catalog/land-cover/tile-03", draws: true, catalog: true },
];
