// Lets a child process run this project's TypeScript as it is: node --import ./test/worker/typescript.mjs script.ts
import { register } from "node:module";

const hooks = `
  import { readFile } from "node:fs/promises";
  import { existsSync } from "node:fs";
  import { fileURLToPath } from "node:url";
  import { transformSync } from ${JSON.stringify(import.meta.resolve("rolldown/utils"))};

  export async function resolve(specifier, context, next) {
    if (specifier.startsWith(".") && specifier.endsWith(".js") && context.parentURL !== undefined) {
      const url = new URL(specifier.replace(/\\.js$/, ".ts"), context.parentURL);
      if (existsSync(fileURLToPath(url))) return { url: url.href, shortCircuit: true };
    }
    return next(specifier, context);
  }

  export async function load(url, context, next) {
    if (!url.endsWith(".ts")) return next(url, context);
    const path = fileURLToPath(url);
    const { code } = transformSync(path, await readFile(path, "utf8"));
    return { format: "module", source: code, shortCircuit: true };
  }
`;
register(`data:text/javascript,${encodeURIComponent(hooks)}`);
