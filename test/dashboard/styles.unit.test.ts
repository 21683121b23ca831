// Pages' styles are loaded when a page is first opened, and stay: what one says must not touch another, whatever way a person came.
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const root = fileURLToPath(new URL("../../dashboard/src", import.meta.url));
const classesOf = (selector: string) => [...selector.matchAll(/\.([a-z][\w-]*)/g)].map(([, name]) => name as string);

function selectorsOf(file: string): string[] {
  const text = readFileSync(join(root, file), "utf8").replace(/\/\*[\s\S]*?\*\//g, "");
  return [...text.matchAll(/([^{};]+)\{/g)]
    .map(([, before]) => (before as string).trim())
    .filter((before) => !before.startsWith("@") && !/^(from|to|\d+%)$/.test(before))
    .flatMap((before) => before.split(/,(?![^(]*\))/).map((one) => one.trim()));
}

/** Folders whose rules begin with a class; where none does, those that name it at all. */
function homesOf(files: readonly string[]): Map<string, Set<string>> {
  const [begun, named] = [new Map<string, Set<string>>(), new Map<string, Set<string>>()];
  const note = (homes: Map<string, Set<string>>, name: string, file: string) =>
    homes.set(name, (homes.get(name) ?? new Set()).add(dirname(file)));
  for (const file of files) {
    for (const selector of selectorsOf(file)) {
      for (const name of classesOf(selector)) note(named, name, file);
      for (const name of classesOf(selector.split(/[\s>+~]/)[0] as string)) note(begun, name, file);
    }
  }
  return new Map([...named, ...begun]);
}

test("every rule of a page names a class that is that page's alone", () => {
  const files = readdirSync(root, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".css"));
  const homes = homesOf(files);
  const pages = files.filter((file) => file.startsWith("pages"));
  expect(pages.length).toBeGreaterThan(10);
  const loose = pages.flatMap((file) =>
    selectorsOf(file)
      .filter((selector) => !classesOf(selector).some((name) => [...(homes.get(name) ?? [])].join() === dirname(file)))
      .map((selector) => `${file}: ${selector}`),
  );
  expect(loose).toEqual([]);
});
