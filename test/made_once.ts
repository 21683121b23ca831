// What all test files of a run share is made once: whoever comes first makes it, the others wait.
import { existsSync } from "node:fs";
import { mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { inject } from "vitest";

const patience_ms = 120_000;

/** Gives a folder that `make` has filled. */
export async function madeOnce(name: string, make: (folder: string) => Promise<unknown>): Promise<string> {
  const shared_dir = inject("shared_dir");
  const folder = join(shared_dir, name);
  const failure = join(shared_dir, `${name}-failed`);
  const mine = await mkdir(join(shared_dir, `${name}-lock`)).then(
    () => true,
    () => false,
  );
  if (mine) {
    const unfinished = join(shared_dir, `${name}-new`);
    try {
      await mkdir(unfinished);
      await make(unfinished);
      // It must appear in one piece.
      await rename(unfinished, folder);
    } catch (error) {
      await writeFile(failure, text(error));
    }
  }
  for (const until = Date.now() + patience_ms; !existsSync(folder); ) {
    if (existsSync(failure)) throw new Error(`${name} cannot be made:\n${await readFile(failure, "utf8")}`);
    if (Date.now() > until) throw new Error(`${name} is still not made`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  return folder;
}

/** A compiler says on its standard output what is wrong, others on the other one. */
function text(error: unknown): string {
  const { stdout = "", stderr = "" } = error as { stdout?: string; stderr?: string };
  return `${stdout}${stderr}` || String(error);
}
