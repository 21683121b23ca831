// The catalogue of a task's tenant: by what the database has, and the operator wants.
import type { Catalog } from "../../catalog/catalog.js";
import { openCatalog } from "../../catalog/open.js";
import type { TaskContext } from "../../core/task/context.js";

export function catalogOf(ctx: TaskContext): Promise<Catalog> {
  return ctx.db((session) => openCatalog(session, { tenant: ctx.tenant_id, setting: ctx.raster.catalog }));
}
