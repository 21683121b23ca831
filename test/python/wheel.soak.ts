// The wheel installs in an empty environment with nothing compiled, and its worker says that all is well.
import { execFile } from "node:child_process";
import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, onTestFinished, test } from "vitest";

const run = promisify(execFile);
const root = fileURLToPath(new URL("../..", import.meta.url));
const made = await run("node", ["scripts/python.mjs", "venv"], { cwd: root, timeout: 600_000 }).catch(() => null);

test.skipIf(made === null)(
  "the wheel installs in an empty environment without a compiler",
  async () => {
    const python = made!.stdout.trim().split("\n").at(-1)!;
    const dir = await mkdtemp(join(tmpdir(), "fanfold-wheel-"));
    onTestFinished(() => rm(dir, { recursive: true, force: true }));
    const pip = ["-m", "pip", "--disable-pip-version-check", "--quiet"];
    await run(python, [...pip, "wheel", "--no-deps", "--no-build-isolation", "-w", dir, "."], {
      cwd: join(root, "python"),
    });
    const [wheel = ""] = await readdir(dir);
    expect(wheel).toMatch(/^fanfold-[\d.]+-py3-none-any\.whl$/);
    await run(python, ["-m", "venv", join(dir, "empty")]);
    const own = join(dir, "empty", "bin", "python");
    // Whatever would have to be compiled finds nothing to be compiled with.
    const env = { PATH: "/nowhere", HOME: process.env.HOME ?? "", CC: "/bin/false", CXX: "/bin/false" };
    await run(own, [...pip, "install", "--only-binary", ":all:", join(dir, wheel)], { env });
    await writeFile(
      join(dir, "small.py"),
      'from fanfold import App, handler\n\n\n@handler("a.b")\ndef b() -> None: ...\n\n\napp = App(handlers=[b])\n',
    );
    const { stdout } = await run(join(dir, "empty", "bin", "fanfold-worker"), ["small:app", "--check"], {
      cwd: dir,
      env,
    });
    expect(stdout).toContain("all is well: handlers a.b");
    const { stdout: installed } = await run(own, ["-m", "pip", "--disable-pip-version-check", "freeze"], { env });
    const names = installed.split("\n").map((line) => line.split("==")[0]);
    expect(names).toContain("httpx");
    expect(names).not.toContain("pydantic");
  },
  900_000,
);
