// The stores there are, and what a store is. Re-exports only.
export type { Ref, Store } from "../core/places/store.js";
export type { BlobStore } from "./blob_store.js";
export { openFolderStore } from "./folder_store.js";
export { storeOfTenant } from "./tenant_store.js";
export { type ZoneSettings, Zones } from "./zones.js";
