// Vector layers, from a program: what there is, what each was, and how it is drawn. Features are read at /ogc.
import type { BodyIn, QueryIn } from "../core/api/endpoint.js";
import { layers_api } from "../core/api/layers.js";
import type { Asking } from "./operate.js";
import type { Transport } from "./transport.js";

export class LayersClient {
  constructor(private readonly transport: Transport) {}

  list(query: QueryIn<typeof layers_api.list> = {}, options: Asking = {}) {
    return this.transport.call(layers_api.list, { query, ...options });
  }

  get(layer_id: string, options: Asking = {}) {
    return this.transport.call(layers_api.get, { params: { layer_id }, ...options });
  }

  /** Newest first; also of a layer that was unpublished. */
  versions(layer_id: string, query: QueryIn<typeof layers_api.versions> = {}, options: Asking = {}) {
    return this.transport.call(layers_api.versions, { params: { layer_id }, query, ...options });
  }

  /** Rows that were not taken, and why; also of loads that failed. */
  rejects(layer_id: string, query: QueryIn<typeof layers_api.rejects> = {}, options: Asking = {}) {
    return this.transport.call(layers_api.rejects, { params: { layer_id }, query, ...options });
  }

  column(layer_id: string, column_name: string, options: Asking = {}) {
    return this.transport.call(layers_api.column, { params: { layer_id, column_name }, ...options });
  }

  /** For everybody who looks at it; null: as if nobody had said. */
  setStyle(
    layer_id: string,
    style: BodyIn<typeof layers_api.set_style>["style"],
    options: Asking & { actor?: string } = {},
  ) {
    const { actor, ...asking } = options;
    return this.transport.call(layers_api.set_style, { params: { layer_id }, body: { style, actor }, ...asking });
  }
}
