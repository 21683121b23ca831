// The services that a request made, as addresses that can be followed: what its jobs say of links below this server, and for what is in the
// catalogue the first items with their files.
import type { RequestRecord } from "../../engine/verbs/requests.js";
import { StacLinks } from "../routes/stac/links.js";

type Service = NonNullable<NonNullable<RequestRecord["result_data"]>["services"]>[number];

const most_items = 20;
const names: Readonly<Record<string, string>> = {
  collection: "stac_collection",
  items: "stac_items",
  search: "stac_search",
};

export interface FoundItem {
  id: string;
  collection: string;
  assets: Record<string, { href: string; type?: string; title?: string; roles?: string[] }>;
}

/** `itemsOf`: the items that a job made, with their files as this server offers them. */
export async function servicesOf(
  request: RequestRecord,
  base: string,
  itemsOf: ((job_id: string, limit: number) => Promise<FoundItem[]>) | null,
): Promise<Service[]> {
  const services: Service[] = [];
  const stac = new StacLinks(base);
  for (const { name: job, job_id } of request.jobs) {
    const output = request.result_data?.outputs[job];
    const links = isRecord(output) && isRecord(output.links) ? output.links : {};
    for (const [name, path] of Object.entries(links)) {
      if (typeof path !== "string" || !path.startsWith("/")) continue;
      services.push({ job, name: names[name] ?? name, href: `${base}${path}`, type: "application/json", title: null });
    }
    if (itemsOf === null || job_id === null || Object.keys(links).length === 0) continue;
    for (const item of await itemsOf(job_id, most_items)) {
      const href = stac.item(item.collection, item.id);
      services.push({ job, name: "stac_item", href, type: "application/geo+json", title: item.id });
      for (const [key, asset] of Object.entries(item.assets)) {
        const is_picture = asset.roles?.includes("thumbnail") === true || asset.roles?.includes("overview") === true;
        const name = is_picture ? "quicklook" : "asset";
        services.push({
          job,
          name,
          // A layer's are below this server.
          href: asset.href.startsWith("/") ? `${base}${asset.href}` : asset.href,
          type: asset.type ?? null,
          title: asset.title ?? `${item.id} ${key}`,
        });
      }
    }
  }
  return services;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
