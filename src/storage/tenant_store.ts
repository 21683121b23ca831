// The files of one tenant in a store of many. What is put lands below the tenant's prefix, and a reference to anything else is
// refused before the store is asked: a reference is data, and a tenant that can write a result or parameters can make one up.
import { StorageError } from "../core/errors/errors.js";
import { quoted } from "../core/errors/problems.js";
import { isOfTenant, isReadableBy, type Ref, type Store, tenantPrefix } from "../core/places/store.js";

export function storeOfTenant(store: Store, tenant_id: string): Store {
  const prefix = tenantPrefix(tenant_id);
  // The key of a reference is taken as it is; a name that a handler chose is of its tenant.
  const own = (key: string) => (typeof key !== "string" || isOfTenant({ key }, tenant_id) ? key : prefix + key);
  return {
    ...(store.blobs === undefined ? {} : { blobs: store.blobs }),
    put: (key, content) => store.put(own(key), content),
    putStream: (key, pieces) => store.putStream(own(key), pieces),
    get: async (ref) => store.get(readable(ref, tenant_id)),
    getStream: (ref) => store.getStream(readable(ref, tenant_id)),
    remove: (key) => store.remove(own(key)),
  };
}

function readable(ref: Ref, tenant_id: string): Ref {
  if (isReadableBy(ref, tenant_id)) return ref;
  throw new StorageError("bad_key", `The stored file ${quoted(ref?.key)} is not one of tenant ${tenant_id}.`, {
    hint: `Pass references as storage gave them: the keys of this tenant's files begin with ${tenantPrefix(tenant_id)}.`,
  });
}
