// What executing a process calls: subscribers hear of a job in OGC's words (the class callback), and inputs by reference are fetched. A worker
// makes every one of these calls, through the guard; and a recipe is a process whose job is a request.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { z } from "zod";
import { defineHandler, defineJob } from "../../../src/core/declare/declare.js";
import { defineRecipe } from "../../../src/core/declare/recipe.js";
import { Permanent } from "../../../src/core/errors/errors.js";
import { httpRequest } from "../../../src/handlers/connectors/http_request.js";
import { webhookDeliver } from "../../../src/handlers/connectors/webhook_deliver.js";
import { echoGive } from "../../../src/handlers/echo/echo.js";
import { echo } from "../../../src/jobs/echo.js";
import { type Listener, listen } from "../../handlers/connectors/listener.js";
import { eventually } from "../../worker/shop.js";
import { openService, type TestService } from "../service.js";

// biome-ignore lint/suspicious/noExplicitAny: a test looks into whatever came
type Loose = any;

const parts = {
  jobs: [
    echo,
    defineJob({ type: "broken", parameters: z.object({ n: z.int() }), stages: [{ name: "a", task: "t.broken" }] }),
    defineJob({
      type: "large",
      parameters: z.object({ source: z.string().meta({ format: "uri-reference" }) }),
      stages: [{ name: "a", task: "t.large" }],
    }),
    defineJob({ type: "any", stages: [{ name: "a", task: "t.any" }] }),
  ],
  handlers: [
    echoGive,
    httpRequest,
    webhookDeliver,
    defineHandler("t.broken", {}, () => {
      throw new Permanent("the river is dry", { code: "dry_river" });
    }),
    defineHandler("t.large", {}, ({ source }) => ({ source, text: "x".repeat(30_000) })),
    defineHandler("t.any", {}, (given) => ({ given })),
  ],
  recipes: [
    defineRecipe({
      data_type: "river",
      description: "One job",
      parameters: z.object({ depth: z.number() }),
      jobs: [{ name: "only", job: "any" }],
    }),
  ],
};

describe("what executing a process calls", () => {
  let service: TestService;
  let receiver: Listener;
  const heard = () => receiver.requests.map(({ path, body }: Loose) => [path, JSON.parse(String(body))]);
  const execute = (process: string, body: unknown, headers: Record<string, string> = {}) =>
    service.call("POST", `/ogc/processes/${process}/execution`, { body, headers });
  const subscriber = () => ({
    successUri: `${receiver.url}/success`,
    inProgressUri: `${receiver.url}/progress`,
    failedUri: `${receiver.url}/failed`,
  });

  beforeAll(async () => {
    receiver = await listen((request, response) => {
      if (request.method === "POST") return void response.writeHead(204).end();
      const is_json = request.url?.endsWith(".json");
      response.writeHead(request.url === "/gone" ? 404 : 200, {
        "content-type": is_json ? "application/json" : "text/plain",
      });
      response.end(is_json ? '{"depth": 3}' : "fetched text");
    });
    service = await openService(parts);
    await service.worker({
      slots: 4,
      poll_s: 0.2,
      outbound: {
        allow_http: true,
        allow_private: ["127.0.0.1"],
        ports: Array.from({ length: 64_512 }, (_, n) => n + 1024),
        refusal_ms: 0,
      },
    });
  }, 120_000);
  afterAll(async () => {
    await service?.close();
    await receiver?.close();
  });
  beforeEach(() => {
    receiver.requests.length = 0;
  });

  test("a subscriber hears that the job was taken, and gets the same results as the results call gives", async () => {
    const bytes = Buffer.from("bytes").toString("base64");
    const inputs = { text: "told", object: { a: { b: null } }, box: { bbox: [1, 2, 3, 4] }, bytes, number: 1 };
    const outputs = { text: {}, object: {}, box: {}, bytes: {}, number: { transmissionMode: "reference" } };
    const asked = { inputs, outputs, response: "document", subscriber: subscriber() };
    const { status, body } = await execute("echo", asked, { prefer: "respond-async" });
    expect(status).toBe(201);
    await eventually(() => receiver.requests.length === 2);
    const told = Object.fromEntries(heard());
    expect(told["/progress"]).toMatchObject({
      jobID: body.jobID,
      processID: "echo",
      type: "process",
      status: "accepted",
    });
    const results = (await service.call("GET", `/ogc/jobs/${body.jobID}/results`)).body;
    const { number, ...others } = results;
    expect(told["/success"]).toMatchObject(others);
    expect(told["/success"].number.href).toBe(number.href);
    // There is no secret, so nothing is signed; the id tells a repeat.
    expect(receiver.requests[0]!.headers["webhook-id"]).toMatch(/^msg_/);
    expect(receiver.requests[0]!.headers["webhook-signature"]).toBeUndefined();
    // A job keeps the subscriber it was made with: who subscribes has one of its own.
    expect((await execute("echo", asked, { prefer: "respond-async" })).body.jobID).not.toBe(body.jobID);
    await eventually(() => receiver.requests.length === 4);
  });

  test("a job that fails is told to failedUri, and results too large for a message by where they are", async () => {
    const failed = await execute("broken", { inputs: { n: 1 }, subscriber: subscriber() });
    const large = await execute("large", {
      inputs: { source: { href: "https://data.example/x.tif" } },
      subscriber: subscriber(),
    });
    await eventually(() => receiver.requests.length === 4);
    const told = Object.fromEntries(heard().filter(([path]) => path !== "/progress"));
    expect(told["/failed"]).toMatchObject({ jobID: failed.body.jobID, status: "failed", message: expect.any(String) });
    expect(told["/success"]).toEqual({
      result: { href: `${service.url}/ogc/jobs/${large.body.jobID}/results/result`, type: "application/json" },
    });
    // An input that takes an address is given it, and nobody fetches anything.
    expect((await service.call("GET", `/ogc/jobs/${large.body.jobID}/results/result`)).body.source).toBe(
      "https://data.example/x.tif",
    );
  });

  test("what may not be called is not called: a private address is refused where it is sent", async () => {
    const { body } = await execute(
      "echo",
      { inputs: { text: "x" }, subscriber: { successUri: "http://10.1.2.3/hook" } },
      { prefer: "respond-async" },
    );
    await service.engine.wait(body.jobID);
    const delivery = async () => (await service.call("GET", `/api/deliveries?job_id=${body.jobID}`)).body.deliveries[0];
    await eventually(async () => (await delivery())?.status === "failed");
    expect((await delivery()).last_error).toMatch(/outbound_refused/);
  });

  test("inputs by reference are fetched by a worker; what cannot be fetched is told with its input", async () => {
    const inputs = { text: { href: `${receiver.url}/x.txt` }, object: { href: `${receiver.url}/x.json` }, list: ["a"] };
    const { status, body } = await execute("echo", { inputs, response: "document" });
    expect([status, body]).toEqual([200, { text: "fetched text", object: { value: { depth: 3 } }, list: ["a"] }]);
    const wrong = {
      text: { href: `${receiver.url}/gone` },
      object: { href: "http://10.1.2.3/x.json" },
      bytes: { href: "file:///etc/passwd" },
    };
    const refused = await execute("echo", { inputs: wrong });
    expect(refused.status).toBe(400);
    expect(refused.body.problems.map(({ path }: Loose) => path)).toEqual(["inputs.bytes.href"]);
    const { bytes: _, ...others } = wrong;
    const told = (await execute("echo", { inputs: others })).body.problems;
    expect(told.map(({ path }: Loose) => path).sort()).toEqual(["inputs.object.href", "inputs.text.href"]);
  });

  test("a recipe is a process: its job is a request, with results, a place in the list and a subscriber", async () => {
    const described = (await service.call("GET", "/ogc/processes/recipe.river")).body;
    expect(described).toMatchObject({
      jobControlOptions: ["async-execute", "dismiss"],
      inputs: { dataset_id: { minOccurs: 1 }, parameters: { schema: { properties: { depth: { type: "number" } } } } },
    });
    const bad = await execute("recipe.river", { inputs: { dataset_id: "d", version_id: 5, files: [], depth: 1 } });
    expect(bad.body.problems.map(({ path }: Loose) => path).sort()).toEqual([
      "inputs",
      "inputs.resource_id",
      "inputs.version_id",
    ]);
    const inputs = { dataset_id: "d", resource_id: "r", version_id: "1", parameters: { depth: 2 } };
    const { status, headers, body } = await execute(
      "recipe.river",
      { inputs, subscriber: subscriber() },
      { prefer: "respond-async" },
    );
    expect([status, body.processID]).toEqual([201, "recipe.river"]);
    expect(headers.get("location")).toBe(`${service.url}/ogc/jobs/${body.jobID}`);
    await eventually(() => receiver.requests.length === 1);
    expect(heard()[0]).toEqual([
      "/success",
      { result: { value: expect.objectContaining({ outputs: expect.any(Object) }) } },
    ]);
    const info = (await service.call("GET", `/ogc/jobs/${body.jobID}`)).body;
    expect(info).toMatchObject({ status: "successful", progress: 100 });
    const results = await service.call("GET", `/ogc/jobs/${body.jobID}/results`);
    expect([results.status, results.body.outputs ?? results.body]).toEqual([200, expect.any(Object)]);
    const listed = (await service.call("GET", "/ogc/jobs?processID=recipe.river")).body.jobs;
    expect(listed.map(({ jobID }: Loose) => jobID)).toEqual([body.jobID]);
    expect((await execute("recipe.river", { inputs }, {})).body.jobID).toBe(body.jobID);
  });
});
