// The project as plain JavaScript, made once per test run: hundreds of processes start in the tests, and one that has to read
// TypeScript through a loader takes twice as long to start. Nothing is bundled: a module stays a file, and what lies beside src/
// and test/ is where it was.
import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { transformSync } from "rolldown/utils";
import { inject } from "vitest";

const root = fileURLToPath(new URL("..", import.meta.url));

export function writePlainCode(dir: string): void {
  for (const folder of ["src", "test"]) {
    for (const name of readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })) {
      if (!/(?<!\.test|\.soak|\.browser|\.shots)\.(ts|mjs)$/.test(name)) continue;
      const text = readFileSync(join(root, folder, name), "utf8");
      const target = join(dir, folder, name.replace(/\.ts$/, ".js"));
      mkdirSync(dirname(target), { recursive: true });
      writeFileSync(target, name.endsWith(".ts") ? transformSync(name, text).code : text);
    }
  }
  for (const name of ["package.json", "node_modules", "db", "dist", "bench"])
    symlinkSync(join(root, name), join(dir, name));
}

/** Where a script of the tests is as plain JavaScript; `script` is the address of its TypeScript. */
export function plainScript(script: URL): string {
  const path = fileURLToPath(script).slice(root.length).replace(/\.ts$/, ".js");
  return join(inject("shared_dir"), "code", path);
}
