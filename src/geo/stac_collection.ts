// A STAC 1.1.0 collection as a job makes it, before it has items: its extent is all the world and no time, and the catalogue narrows it
// to the items that are put into it. Pure.
import { type StacCollection, stac_version } from "./stac.js";
import { stacId } from "./stac_ids.js";

export interface NewCollection {
  id: string;
  title?: string | undefined;
  description?: string | undefined;
  keywords?: string[] | undefined;
  /** An SPDX identifier, or `other`. */
  license: string;
}

export function buildCollection({ id, title, description, keywords, license }: NewCollection): StacCollection {
  return {
    type: "Collection",
    stac_version,
    stac_extensions: [],
    id: stacId(id),
    ...(title ? { title } : {}),
    // Required, and not empty.
    description: description || title || id,
    ...(keywords?.length ? { keywords } : {}),
    license,
    extent: { spatial: { bbox: [[-180, -90, 180, 90]] }, temporal: { interval: [[null, null]] } },
    links: [],
  };
}
