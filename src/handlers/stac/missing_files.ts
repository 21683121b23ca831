// An item whose file is gone would be a promise that nobody can keep: it is refused before it is written.
import { Permanent } from "../../core/errors/errors.js";
import type { TaskContext } from "../../core/task/context.js";
import type { StacItem } from "../../geo/stac.js";
import { filesOf, zoneRef } from "./taken_items.js";

const at_once = 16;
const most_named = 20;

export async function refuseMissing(ctx: TaskContext, items: readonly StacItem[]): Promise<void> {
  const files = [...new Set(items.flatMap(filesOf))];
  const missing: string[] = [];
  for (let at = 0; at < files.length; at += at_once) {
    const some = files.slice(at, at + at_once);
    const found = await Promise.all(some.map((file) => ctx.zones.stat(zoneRef(file))));
    missing.push(...some.filter((_, place) => found[place] === null));
  }
  if (missing.length === 0) return;
  const named = missing.slice(0, most_named).join(", ");
  const more = missing.length > most_named ? `, and ${missing.length - most_named} more` : "";
  throw new Permanent(
    `${missing.length === 1 ? "a file" : `${missing.length} files`} of the items to register ${missing.length === 1 ? "is" : "are"} gone: ${named}${more}. Run the tasks that made them again (fanfold redo), which registers the items too`,
    { code: "file_gone" },
  );
}
