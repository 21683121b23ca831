// docs/worker-protocol.md is enough to write a worker by: one in bash, curl and jq runs tasks and publishes a file.
import { spawn, spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openService, type TestService } from "../server/service.js";

const script = fileURLToPath(new URL("./third_worker.sh", import.meta.url));
const has_tools = spawnSync("bash", ["-c", "command -v curl jq sha256sum"]).status === 0;
if (!has_tools) process.stderr.write("the worker in bash is left out: there is no curl, jq or sha256sum here\n");

let service: TestService;
beforeAll(async () => {
  service = await openService({});
});
afterAll(() => service.close());

test.runIf(has_tools)("a worker in a third language runs tasks and publishes a file with the finish", async () => {
  const engine = service.engine.forTenant("shell");
  const key = await service.key("shell");
  const enqueue = (type: string, parameters: object) =>
    service.call("POST", `/api/tasks/enqueue/${type}`, { key, body: { parameters } });
  const hello = await enqueue("sh.hello", { name: "Ada" });
  const file = await enqueue("sh.file", { text: "by hand" });
  expect([hello.status, file.status]).toEqual([201, 201]);
  const env = { ...process.env, FANFOLD_URL: service.url, FANFOLD_KEY: key };
  const said: string[] = [];
  const code = await new Promise<number | null>((resolve) => {
    const child = spawn("bash", [script], { env, stdio: ["ignore", "pipe", "pipe"] });
    for (const stream of [child.stdout, child.stderr]) stream.on("data", (text: Buffer) => said.push(text.toString()));
    child.once("close", resolve);
  });
  expect([code, said.join("")]).toEqual([0, ""]);
  expect(await engine.task(hello.body.task_ids[0])).toMatchObject({ status: "completed", result: { hello: "Ada" } });
  const made = await engine.task(file.body.task_ids[0]);
  const { key: name } = made.result as { key: string };
  const seen = await fetch(`${service.url}/assets/silver/${name}`, { headers: { authorization: `Bearer ${key}` } });
  expect([made.status, await seen.text()]).toEqual(["completed", "by hand\n"]);
});
