// Imports a module of the user's: JavaScript as Node does, TypeScript through jiti, so that every Node takes the same TypeScript. What a
// TypeScript module imports from packages, Fanfold above all, is the one copy that Node has: a class stays one class.

export async function importModule(url: string): Promise<Record<string, unknown>> {
  // A test runner that runs this very file as TypeScript takes the module too, and a second loader would load Fanfold twice.
  if (!/\.[cm]?ts$/.test(url) || import.meta.url.endsWith(".ts")) return import(url);
  const { createJiti } = await import("jiti");
  // Its cache of compiled modules would lie in a folder that every user of the machine may write to.
  const jiti = createJiti(import.meta.url, { fsCache: false, interopDefault: false });
  return jiti.import(url);
}
