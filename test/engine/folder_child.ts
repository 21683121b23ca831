// A process of its own that wants a data folder. Arguments: `open` (the embedded database) or `lock` (only the lock), and
// the folder. It says "holds" or the error on one line, and then keeps what it has until it is killed or told to end.

import { openEmbedded } from "../../src/engine/database/embedded_database.js";
import { lockFolder } from "../../src/engine/database/folder_lock.js";

const [what, folder = ""] = process.argv.slice(2);
const say = (line: string) => process.stdout.write(`${line}\n`);

try {
  if (what === "lock") {
    await lockFolder(folder);
  } else {
    const embedded = await openEmbedded(folder);
    const db = embedded.as(null);
    await db.script("create table if not exists kept (a int)");
    await db.sql`insert into kept values (${process.pid}::int)`;
  }
  say("holds");
  process.stdin.resume();
  process.stdin.once("end", () => process.exit(0));
} catch (error) {
  say(`${(error as Error).name}: ${(error as Error).message}`);
  process.exit(1);
}
