// Lets a child of a test take the project's modules from where plain_code.ts has put them as JavaScript, whatever asks for their
// TypeScript: node --import file:///…/typescript.mjs?code=folder script.ts
import { register } from "node:module";

const hooks = `
  import { existsSync } from "node:fs";
  import { fileURLToPath, pathToFileURL } from "node:url";

  const root = ${JSON.stringify(new URL("../../", import.meta.url).href)};
  const folder = pathToFileURL(${JSON.stringify(`${new URL(import.meta.url).searchParams.get("code")}/`)}).href;

  export async function resolve(specifier, context, next) {
    // A compiler that a process loads for one module would take most of its time, and the module is there as JavaScript.
    if (specifier === "jiti") return { url: folder + "test/worker/plain_jiti.js", shortCircuit: true };
    if (/^(\\.|file:)/.test(specifier)) {
      const { href } = new URL(specifier, context.parentURL);
      const path = href.startsWith(root) ? href.slice(root.length) : "";
      const plain = folder + path.replace(/\\.ts$/, ".js");
      if (/^(src|test)\\//.test(path) && existsSync(fileURLToPath(plain))) return { url: plain, shortCircuit: true };
    }
    return next(specifier, context);
  }
`;
register(`data:text/javascript,${encodeURIComponent(hooks)}`);
