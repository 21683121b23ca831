// The catalogues of the tenants that call, where the database has one at all.
import { performance } from "node:perf_hooks";
import type { Catalog } from "../catalog/catalog.js";
import { openCatalog } from "../catalog/open.js";
import { isFanfoldError } from "../core/errors/errors.js";
import type { CatalogSetting } from "../core/task/raster_settings.js";
import type { Engine } from "../engine/engine.js";

/** One may be installed while the server runs; asking at every call would cost each of them a statement. */
const ASKED_AGAIN_MS = 10_000;

export class Catalogs {
  #none_until = 0;

  constructor(private readonly setting: CatalogSetting = "auto") {}

  /** null where there is none, or it is switched off. */
  async of({ db, tenant }: Engine): Promise<Catalog | null> {
    if (this.setting === "off" || performance.now() < this.#none_until) return null;
    try {
      return await openCatalog(db, { tenant, setting: this.setting });
    } catch (error) {
      // It says what is missing to the operator; a database that is away is another matter.
      if (!isFanfoldError(error) || error.code !== "unavailable") throw error;
      this.#none_until = performance.now() + ASKED_AGAIN_MS;
      return null;
    }
  }
}
