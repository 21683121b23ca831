// A hostile tenant in a process of its own, so that what it does with its own time is not in what the others are measured by:
// `attacker <name of an attack> <target as JSON>`. It says that it begins, goes on until it is ended, and then says what it was told.
import { attacks, type Target, told } from "./attacks.js";

const [name = "", target = "{}"] = process.argv.slice(2);
process.on("SIGTERM", () => {
  process.stdout.write(JSON.stringify(told), () => process.exit());
});
process.stdout.write("\n");
await attacks[name]!(JSON.parse(target) as Target, () => false);
