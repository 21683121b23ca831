// What deploy/ says, held against the program: every command, option, setting and path in it exists, and the role it makes can serve and work.
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { start } from "../cli/fake_terminal.js";
import { freshDatabase, realServer } from "../postgres.js";

const root = fileURLToPath(new URL("../..", import.meta.url));
const text = (name: string) => readFile(path.join(root, name), "utf8");
const run = promisify(execFile);

/** Unknown words end with code 2; --help knows the rest and needs no database. */
async function known(words: readonly string[]): Promise<[string, number | null]> {
  const command = words.filter((word) => !word.startsWith("$("));
  return [command.join(" "), (await start([command[0]!, "--help"], {}).done).code];
}

async function optionsOf(command: string): Promise<string> {
  return (await start([command, "--help"], {}).done).out;
}

async function expectKnown(words: readonly string[]): Promise<void> {
  expect(await known(words)).toEqual([expect.any(String), 0]);
  const help = await optionsOf(words[0]!);
  for (const option of words.filter((word) => word.startsWith("--"))) expect(help, words.join(" ")).toContain(option);
}

async function settingsOfProgram(): Promise<string> {
  return text("src/config.ts");
}

test("every command, setting and file of the compose file is the program's own", async () => {
  const compose = parse(await text("deploy/compose.yaml"), { merge: true }) as {
    services: Record<
      string,
      { command?: string[]; image: string; environment?: Record<string, string>; volumes?: string[] }
    >;
  };
  const ours = Object.values(compose.services).filter(({ image }) => image === "fanfold");
  expect(ours.length).toBe(4);
  const settings = await settingsOfProgram();
  for (const { command, environment = {} } of ours) {
    if (command !== undefined) await expectKnown(command);
    for (const name of Object.keys(environment)) expect(settings, name).toContain(`"${name}"`);
  }
  const mounted = Object.values(compose.services)
    .flatMap(({ volumes = [] }) => volumes)
    .filter((volume) => volume.startsWith("./"))
    .map((volume) => volume.split(":")[0]!);
  expect(mounted.length).toBeGreaterThan(2);
  for (const file of mounted) expect(existsSync(path.join(root, "deploy", file)), file).toBe(true);
  expect(parse(await text("deploy/prometheus/prometheus.yml"))).toMatchObject({ rule_files: ["alerts.yml"] });
  expect(parse(await text("deploy/prometheus/alerts.yml")).groups[0].rules.length).toBeGreaterThan(3);
});

test("the units start commands there are, with settings there are", async () => {
  const settings = await settingsOfProgram();
  const units = await readdir(path.join(root, "deploy/systemd"));
  expect(units).toHaveLength(2);
  for (const unit of units) {
    const lines = (await text(`deploy/systemd/${unit}`)).split("\n");
    const [started] = lines.filter((line) => line.startsWith("ExecStart="));
    await expectKnown(started!.split(" ").slice(1));
    for (const [name] of lines.join(" ").matchAll(/FANFOLD_[A-Z_]+(?==)/g))
      expect(settings, name).toContain(`"${name}"`);
  }
});

test("the container file copies what there is and starts what there is", async () => {
  const lines = (await text("deploy/Containerfile")).replaceAll("\\\n", " ").split("\n");
  const copied = lines.filter((line) => /^COPY (?!--from)/.test(line)).flatMap((line) => line.split(" ").slice(1, -1));
  expect(copied).toContain("package-lock.json");
  for (const name of copied) expect(existsSync(path.join(root, name)), name).toBe(true);
  const [command] = lines.filter((line) => line.startsWith("CMD "));
  await expectKnown(JSON.parse(command!.slice(4)));
  const settings = await settingsOfProgram();
  for (const [name] of lines.join(" ").matchAll(/FANFOLD_[A-Z_]+(?==)/g)) expect(settings, name).toContain(`"${name}"`);
});

test("the chart's values and commands are the program's own", async () => {
  const values = parse(await text("deploy/chart/values.yaml"));
  expect(values.workers[0]).toMatchObject({ name: "general", slots: 8 });
  const { version } = JSON.parse(await text("package.json")) as { version: string };
  expect(parse(await text("deploy/chart/Chart.yaml"))).toMatchObject({ appVersion: version, version });
  await expectKnown(["work", "--slots", "8", "--types", "raster.*", "--once"]);
  await expectKnown(["migrate", "--database-url", "x"]);
});

test.runIf(existsSync("/usr/bin/psql"))(
  "roles.sql makes a role that serves and works, and may be run again",
  async () => {
    const { admin_url } = await realServer();
    const { url, drop } = await freshDatabase({ own: true });
    const folder = await mkdtemp(path.join(tmpdir(), "fanfold-deploy-"));
    const admin = new URL(url);
    const role = (password: string) =>
      run("psql", [admin.href, "-q", "-v", `password=${password}`, "-f", path.join(root, "deploy/roles.sql")]);
    try {
      await role("first");
      await role("sec'ond");
      const theirs = new URL(url);
      theirs.username = "fanfold_server";
      theirs.password = encodeURIComponent("sec'ond");
      const env = { DATABASE_URL: theirs.href, FANFOLD_DATA_DIR: folder };
      const server = start(["serve", "--port", "0"], { env });
      await server.until("http://");
      expect((await start(["submit", "hello_world", "n=2"], { env }).done).code).toBe(0);
      const worked = await start(["work", "--once"], { env }).done;
      expect([worked.code, worked.err]).toEqual([0, expect.stringMatching(/stopped gracefully; [1-9]/)]);
      expect(JSON.parse((await start(["jobs", "--json"], { env }).done).out).jobs[0]).toMatchObject({
        status: "completed",
      });
      server.signal("SIGTERM");
      expect((await server.done).code).toBe(0);
    } finally {
      await drop();
      await run("psql", [admin_url, "-q", "-c", "drop role if exists fanfold_server"]);
      await rm(folder, { recursive: true, force: true });
    }
  },
);
