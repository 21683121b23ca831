// The Python package in python/: `npm run python -- <task>`, where the task is
//   venv      makes the virtual environment python/.venv, if it is not there as it should be, and prints its interpreter
//   generate  writes the blocking twins; with the path of an OpenAPI document also the models and endpoints (npm run docs does both)
//   check     ruff, pyright, and whether what is generated is as it should be
//   test      the package's own tests that need no server; more arguments go to pytest
//   engines   makes python/.venv-engines, with Ray, Dask and cubed in it, and prints its interpreter; only the long tests need it
//   wheel     builds python/dist/fanfold-<version>-py3-none-any.whl
// Without a Python from 3.10 on, or without a way to fetch packages, it says so in one line and exits with code 69.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const folder = fileURLToPath(new URL("../python", import.meta.url));
const windows = process.platform === "win32";
const UNAVAILABLE = 69;

/** An environment: its folder, the list of packages it has, its interpreter, and how long a step of making it may take. */
const place = (name, requirements, patience_ms) => ({
  venv: join(folder, name),
  requirements,
  python: join(folder, name, windows ? "Scripts" : "bin", windows ? "python.exe" : "python"),
  patience_ms,
});
const usual = place(".venv", "requirements.txt", 300_000);
const engines = place(".venv-engines", "requirements-engines.txt", 1_100_000);

function leaveOut(why) {
  process.stderr.write(`the Python package is left out: ${why}\n`);
  process.exit(UNAVAILABLE);
}

function interpreter() {
  const ask = "import sys; print(sys.executable if sys.version_info >= (3, 10) else '')";
  for (const name of [process.env.PYTHON, "python3", "python"]) {
    const found = name ? spawnSync(name, ["-c", ask], { encoding: "utf8" }).stdout?.trim() : "";
    if (found) return found;
  }
  return leaveOut("there is no Python 3.10 or newer");
}

function pause(ms) {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

/** Made once for each list of packages; those who come meanwhile wait. */
function environment(wanted = usual) {
  const { venv, requirements, python, patience_ms } = wanted;
  const hash = createHash("sha256")
    .update(readFileSync(join(folder, requirements)))
    .digest("hex");
  const mark = join(venv, "made_of");
  const lock = `${venv}.making`;
  const isMade = () => existsSync(mark) && readFileSync(mark, "utf8") === hash;
  for (const until = Date.now() + 2 * patience_ms; !isMade(); pause(300)) {
    try {
      mkdirSync(lock);
    } catch {
      const age = Date.now() - (statSync(lock, { throwIfNoEntry: false })?.mtimeMs ?? Date.now());
      if (age > patience_ms) rmSync(lock, { recursive: true, force: true });
      if (Date.now() > until) leaveOut("nobody finished its environment");
      continue;
    }
    try {
      if (!isMade()) make(wanted, interpreter(), mark, hash);
    } finally {
      rmSync(lock, { recursive: true, force: true });
    }
  }
  return python;
}

function make({ venv, requirements, python, patience_ms }, base, mark, hash) {
  rmSync(venv, { recursive: true, force: true });
  const pip = ["-m", "pip", "--disable-pip-version-check", "--quiet", "install"];
  const steps = [
    [base, ["-m", "venv", venv]],
    [python, [...pip, "--only-binary", ":all:", "-r", requirements]],
    // The sources as they stand, whatever is edited later.
    [
      python,
      [
        "-c",
        "import site, sys; open(site.getsitepackages()[0] + '/fanfold.pth', 'w').write(sys.argv[1])",
        join(folder, "src"),
      ],
    ],
  ];
  for (const [command, given] of steps) {
    const { status, stderr, error } = spawnSync(command, given, {
      cwd: folder,
      encoding: "utf8",
      timeout: patience_ms,
    });
    if (status === 0) continue;
    const why =
      error?.code === "ETIMEDOUT" ? `not within ${patience_ms / 1000} s` : String(stderr).trim().split("\n").pop();
    leaveOut(`its environment cannot be made: ${why || error}`);
  }
  writeFileSync(mark, hash);
}

function run(...given) {
  const { status } = spawnSync(environment(), given, { cwd: folder, stdio: "inherit" });
  return status ?? 1;
}

const tasks = {
  venv: () => {
    process.stdout.write(`${environment()}\n`);
    return 0;
  },
  engines: () => {
    process.stdout.write(`${environment(engines)}\n`);
    return 0;
  },
  generate: (rest) => run("scripts/generate.py", ...rest),
  check: () => {
    const codes = [
      run("-m", "ruff", "check", "--quiet", "."),
      run("-m", "ruff", "format", "--check", "--quiet", "."),
      run("scripts/generate.py", "--check"),
      run("-m", "pyright", "--pythonpath", usual.python),
    ];
    return Math.max(...codes);
  },
  test: (rest) => run("-m", "pytest", ...rest),
  wheel: () => run("-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation", "-w", "dist", "."),
};

const [name = "", ...rest] = process.argv.slice(2);
if (!Object.hasOwn(tasks, name)) {
  process.stderr.write(`npm run python -- ${Object.keys(tasks).join(" | ")}\n`);
  process.exit(2);
}
process.exitCode = tasks[name](rest);
