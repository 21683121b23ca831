// The commands that the dashboard shows as they stand, in empty states and hints: the program knows each of them and its options.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { fanfold } from "./fake_terminal.js";

const pages = fileURLToPath(new URL("../../dashboard/src/pages", import.meta.url));

const shown = readdirSync(pages, { recursive: true, encoding: "utf8" })
  .filter((name) => /\.tsx?$/.test(name))
  .flatMap((name) => [...readFileSync(join(pages, name), "utf8").matchAll(/(["`])fanfold ([^"`]+)\1/g)])
  .map(([, , line]) => line as string);

test.each([...new Set(shown)])("fanfold %s", async (line) => {
  const words = line.split(" ");
  const end = words.findIndex((word) => !/^[a-z-]+$/.test(word) || word.startsWith("--"));
  const operands = end < 0 ? words : words.slice(0, end);
  const help = await helpOf(operands);
  const options = words.filter((word) => word.startsWith("--"));
  expect(options.filter((option) => !help.includes(`${option} `))).toEqual([]);
});

test("there are such commands", () => expect(shown.length).toBeGreaterThan(15));

/** Of the longest beginning that is a command: what follows it are its arguments. */
async function helpOf(words: readonly string[]): Promise<string> {
  const { code, out } = await fanfold([...words, "--help"]);
  if (code === 0) return out;
  expect(words.length).toBeGreaterThan(1);
  return helpOf(words.slice(0, -1));
}
