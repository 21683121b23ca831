// Which blueprints (or recipes) the database keeps already, and under which hash: a submit then names the hash instead of sending it all. What is
// remembered here may be wrong (a transaction was rolled back, a backup was restored): the database says so, and is sent the whole.
import { LRUCache } from "lru-cache";
import type { Queryable } from "../database/database.js";
import { asked } from "./reply.js";

export class KeptBlueprints {
  private readonly hashes = new LRUCache<string, string>({ max: 500 });

  constructor(private readonly what: "blueprint" | "recipe" = "blueprint") {}

  async hashOf(db: Queryable, tenant: string, blueprint: string): Promise<string> {
    const key = keyOf(tenant, blueprint);
    const known = this.hashes.get(key);
    if (known !== undefined) return known;
    const hash = await asked<string>(
      this.what === "blueprint"
        ? db.sql`select app.keep_blueprint(${blueprint}::text::jsonb, ${tenant}::text) as reply`
        : db.sql`select platform.keep_recipe(${blueprint}::text::jsonb, ${tenant}::text) as reply`,
    );
    this.hashes.set(key, hash);
    return hash;
  }

  forget(tenant: string, blueprint: string): void {
    this.hashes.delete(keyOf(tenant, blueprint));
  }
}

function keyOf(tenant: string, blueprint: string): string {
  return `${tenant}\n${blueprint}`;
}
