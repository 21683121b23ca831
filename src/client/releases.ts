// Datasets and their releases: who may see what, and who said so.
import type { BodyIn, QueryIn, ReplyOf } from "../core/api/endpoint.js";
import { releases_api } from "../core/api/platform/releases.js";
import type { Asking, Listing } from "./operate.js";
import { listed, type Paged } from "./pages.js";
import type { Transport } from "./transport.js";

export type DatasetRecord = ReplyOf<typeof releases_api.datasets>["datasets"][number];
export type ReleaseRecord = ReplyOf<typeof releases_api.releases>["releases"][number];
type Decision<E> = Omit<BodyIn<E>, "id"> & Asking;

export class Releases {
  constructor(private readonly transport: Transport) {}

  /** Resources of datasets, by name, with their newest and their latest release. */
  datasets(
    options: Listing & { dataset_id?: string; approval?: ReleaseRecord["approval"] } = {},
  ): Paged<DatasetRecord> {
    return listed(this.transport, releases_api.datasets, "datasets", options);
  }

  /** The releases of one resource, newest first, with who decided what. */
  async of(dataset_id: string, resource_id: string, options: Asking = {}): Promise<ReleaseRecord[]> {
    const query = { dataset_id, resource_id };
    return (await this.transport.call(releases_api.releases, { query, ...options })).releases;
  }

  /** What there is to be had: the version that is named, or the latest. */
  lookup({ signal, ...query }: QueryIn<typeof releases_api.lookup> & Asking) {
    return this.transport.call(releases_api.lookup, { query, signal });
  }

  /** `id`: of a release or its request, or dataset/resource[/version]. */
  approve(id: string, { signal, ...body }: Decision<typeof releases_api.approve> = {}) {
    return this.transport.call(releases_api.approve, { body: { id, ...body }, signal });
  }

  reject(id: string, { signal, ...body }: Decision<typeof releases_api.reject>) {
    return this.transport.call(releases_api.reject, { body: { id, ...body }, signal });
  }

  /** Takes it down, too. */
  revoke(id: string, { signal, ...body }: Decision<typeof releases_api.revoke>) {
    return this.transport.call(releases_api.revoke, { body: { id, ...body }, signal });
  }

  /** What would go, unless `dry_run` is false. */
  unpublish(id: string, { signal, ...body }: Decision<typeof releases_api.unpublish> = {}) {
    return this.transport.call(releases_api.unpublish, { body: { id, ...body }, signal });
  }
}
