// OGC API Processes, requirement by requirement of OGC 18-062r2 (core, description, JSON, job list, dismiss), over a service with a worker.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { defineHandler, defineJob } from "../../../src/core/declare/declare.js";
import { Permanent } from "../../../src/core/errors/errors.js";
import { echoGive } from "../../../src/handlers/echo/echo.js";
import { echo } from "../../../src/jobs/echo.js";
import { type Answered, openService, type TestService } from "../service.js";

// biome-ignore lint/suspicious/noExplicitAny: a test looks into whatever came
type Loose = any;
const exceptions = "http://www.opengis.net/def/exceptions/ogcapi-processes-1/1.0";
const rel = "http://www.opengis.net/def/rel/ogc/1.0";
const everything = {
  text: "Grüße",
  number: 2.5,
  flag: true,
  list: ["a", "b"],
  measure: 7,
  object: { value: { deep: [1, { a: null }] } },
  box: { bbox: [7, 51.9, 7.1, 52], crs: "http://www.opengis.net/def/crs/OGC/1.3/CRS84" },
  bytes: Buffer.from("bytes").toString("base64"),
};

/** Opened by the test that closes it. */
class Gate {
  #open: () => void = () => {};
  readonly opened = new Promise<void>((resolve) => {
    this.#open = resolve;
  });
  open(): void {
    this.#open();
  }
}

const gate = new Gate();
const jobs = [
  echo,
  defineJob({ type: "held", parameters: z.object({ n: z.int() }), stages: [{ name: "a", task: "t.held" }] }),
  defineJob({
    type: "broken",
    deadline_s: 30,
    parameters: z.object({ n: z.int() }),
    stages: [{ name: "a", task: "t.broken" }],
  }),
  defineJob({
    type: "partly",
    deadline_s: 30,
    parameters: z.object({ n: z.int() }),
    stages: [{ name: "many", task: "t.odd", tasks: { count: "{parameters.n}" }, failure_budget: { percent: 60 } }],
  }),
];
const handlers = [
  echoGive,
  defineHandler("t.held", {}, async () => {
    await gate.opened;
    return "held";
  }),
  defineHandler("t.broken", {}, () => {
    throw new Permanent("the river is dry", { code: "dry_river" });
  }),
  defineHandler("t.odd", {}, (_, ctx) => {
    if (ctx.ordinal % 2 === 1) throw new Permanent("odd");
    return ctx.ordinal;
  }),
];

describe("OGC API Processes", () => {
  let service: TestService;
  const get = (path: string, headers: Record<string, string> = {}) => service.call("GET", `/ogc${path}`, { headers });
  const execute = (process: string, body: unknown, headers: Record<string, string> = {}, key?: string) =>
    service.call("POST", `/ogc/processes/${process}/execution`, {
      body,
      headers,
      ...(key === undefined ? {} : { key }),
    });
  const linkTo = ({ links }: Loose, wanted: string): string => links.find((one: Loose) => one.rel === wanted)?.href;
  const ended = async (id: string) => {
    await service.engine.wait(id);
    return (await get(`/jobs/${id}`)).body;
  };
  const async_ = { prefer: "respond-async " };

  beforeAll(async () => {
    service = await openService({ jobs, handlers });
    await service.worker();
  }, 120_000);
  afterAll(async () => {
    gate.open();
    await service?.close();
  });

  test("the landing page leads to processes and jobs, and the classes are declared", async () => {
    const { body } = await get("");
    expect(linkTo(body, `${rel}/processes`)).toBe(`${service.url}/ogc/processes`);
    expect(linkTo(body, `${rel}/job-list`)).toBe(`${service.url}/ogc/jobs`);
    const { conformsTo } = (await get("/conformance")).body;
    for (const one of ["core", "ogc-process-description", "json", "oas30", "job-list", "dismiss"])
      expect(conformsTo).toContain(`http://www.opengis.net/spec/ogcapi-processes-1/1.0/conf/${one}`);
  });

  test("every job type is a process with its schema as inputs, page by page", async () => {
    const { body } = await get("/processes?limit=3");
    expect(body.processes).toHaveLength(3);
    const second = await fetch(linkTo(body, "next"), { headers: { authorization: `Bearer ${await service.key()}` } });
    const all = [...body.processes, ...((await second.json()) as Loose).processes];
    expect(all.map(({ id }: Loose) => id)).toEqual(["broken", "echo", "held", "partly"]);
    const described = (await get("/processes/echo")).body;
    expect(described).toMatchObject({
      id: "echo",
      version: "1",
      jobControlOptions: ["sync-execute", "async-execute", "dismiss"],
      outputTransmission: ["value", "reference"],
      inputs: {
        text: { minOccurs: 0, maxOccurs: 1, schema: { type: "string", maxLength: 100_000 } },
        list: { schema: { type: "array", items: { type: "string" } } },
        measure: { schema: { oneOf: [{ type: "number" }, { type: "string" }] } },
        box: { schema: { type: "object", required: ["bbox"], properties: { bbox: { type: "array", minItems: 4 } } } },
        bytes: { schema: { type: "string", contentEncoding: "base64", contentMediaType: "application/octet-stream" } },
      },
    });
    // Test suites look at the first input, and at the output of the same name.
    expect(Object.keys(described.inputs)[0]).toBe("text");
    expect(Object.keys(described.outputs)).toEqual(Object.keys(everything));
    expect(JSON.stringify(described)).not.toMatch(/\$ref|"const"|\$schema|prefixItems/);
    expect((await get("/processes/held")).body).toMatchObject({
      jobControlOptions: ["async-execute", "dismiss"],
      inputs: { n: { minOccurs: 1, schema: { type: "integer" } } },
      outputs: { result: { schema: {} } },
    });
  });

  test("without Prefer a short process is waited for, and its outputs are one document for who asks for JSON", async () => {
    const { status, headers, body } = await execute("echo", { inputs: everything }, { accept: "application/json" });
    expect([status, headers.get("content-type")]).toEqual([200, "application/json; charset=utf-8"]);
    const { object, bytes, ...others } = everything;
    expect(body).toEqual({
      ...others,
      object,
      bytes: { value: bytes, mediaType: "application/octet-stream", encoding: "base64" },
    });
    const monitor = /^<(.*)>; rel=monitor$/.exec(headers.get("link")!)?.[1];
    expect((await get(monitor!.replace(`${service.url}/ogc`, ""))).body).toMatchObject({
      status: "successful",
      progress: 100,
    });
  });

  test("a list of one comes without brackets too, and a value in the wrapping of drafts", async () => {
    const inputs = {
      list: "one",
      object: { value: "kept" },
      bytes: { value: everything.bytes, format: { encoding: "base64" } },
    };
    const { status, body } = await execute("echo", { inputs, response: "document" });
    expect([status, body.list, body.object.value, body.bytes.value]).toEqual([
      200,
      ["one"],
      { value: "kept" },
      everything.bytes,
    ]);
    const wrong = { list: 5, bytes: { value: everything.bytes, format: { mediaType: "image/png" } } };
    const refused = await execute("echo", { inputs: wrong });
    expect([refused.status, refused.headers.get("content-type")]).toEqual([400, "application/json; charset=utf-8"]);
    expect(refused.body.problems.map(({ path }: Loose) => path).sort()).toEqual([
      "inputs.bytes.mediaType",
      "inputs.list",
    ]);
  });

  test("one output by value is sent as what it is, and by reference as a link to it", async () => {
    const one = async (name: string, mode = "value") =>
      execute("echo", { inputs: everything, outputs: { [name]: { transmissionMode: mode } }, response: "raw" });
    const text = await one("text");
    expect([text.headers.get("content-type"), text.body]).toEqual(["text/plain; charset=utf-8", "Grüße"]);
    expect((await one("number")).body).toBe(2.5);
    expect((await one("list")).body).toEqual(["a", "b"]);
    const bytes = await one("bytes");
    expect([bytes.headers.get("content-type"), bytes.body]).toEqual(["application/octet-stream", "bytes"]);
    const reference = await one("object", "reference");
    expect([reference.status, reference.body]).toEqual([204, ""]);
    const href = /^<[^>]*>; rel=monitor, <([^>]*)>; rel="object"/.exec(reference.headers.get("link")!)![1]!;
    expect((await get(href.replace(`${service.url}/ogc`, ""))).body).toEqual(everything.object.value);
  });

  test("several raw outputs are a message of several parts; those by reference are empty and say where they are", async () => {
    const outputs = { text: {}, number: { transmissionMode: "reference" }, bytes: {} };
    const { status, headers, body } = await execute("echo", { inputs: everything, outputs, response: "raw" });
    const boundary = /^multipart\/related; boundary=(.+)$/.exec(headers.get("content-type")!)?.[1];
    expect(status).toBe(200);
    const parts = (body as string).split(`--${boundary}`).slice(1, -1);
    expect(parts[0]).toContain("Content-ID: <text>\r\n\r\nGrüße\r\n");
    expect(parts[1]).toMatch(/Content-Location: http.*\/results\/number\r\n\r\n\r\n$/);
    expect(parts[2]).toContain("\r\n\r\nbytes\r\n");
    expect(body).toMatch(new RegExp(`--${boundary}--\r\n$`));
  });

  test("respond-async gives a job that is there before the answer leaves, and its results in the way that was asked for", async () => {
    const asked = { inputs: { text: "later", pause: 0.01 }, outputs: { text: {} }, response: "raw" };
    const { status, headers, body } = await execute("echo", asked, async_);
    expect([status, headers.get("preference-applied")]).toEqual([201, "respond-async"]);
    expect(headers.get("location")).toBe(`${service.url}/ogc/jobs/${body.jobID}`);
    expect(body).toMatchObject({ processID: "echo", type: "process", jobID: expect.stringMatching(/^[0-9a-f]{64}$/) });
    expect(["accepted", "running", "successful"]).toContain(body.status);
    const info = await ended(body.jobID);
    expect(info).toMatchObject({ status: "successful", progress: 100, finished: expect.stringMatching(/Z$/) });
    const results = await get(new URL(linkTo(info, `${rel}/results`)).pathname.replace("/ogc", ""));
    expect([results.headers.get("content-type"), results.body]).toEqual(["text/plain; charset=utf-8", "later"]);
    // The same again in the same way is the same job; in another way it is one more.
    expect((await execute("echo", asked, async_)).body.jobID).toBe(body.jobID);
    const other = await execute("echo", { ...asked, response: "document" }, async_);
    expect(other.body.jobID).not.toBe(body.jobID);
    await ended(other.body.jobID);
    expect((await get(`/jobs/${other.body.jobID}/results`)).body).toEqual({ text: "later" });
  });

  test("a job that has not ended has no results yet, and dismissing it twice is dismissing it once", async () => {
    const { status, body } = await execute("held", { inputs: { n: 1 } });
    expect(status).toBe(201);
    const early = await get(`/jobs/${body.jobID}/results`);
    expect([early.status, early.headers.get("content-type"), early.body.type]).toEqual([
      404,
      "application/json; charset=utf-8",
      `${exceptions}/result-not-ready`,
    ]);
    await expect.poll(async () => (await get(`/jobs/${body.jobID}`)).body.status).toBe("running");
    const remove = () => service.call("DELETE", `/ogc/jobs/${body.jobID}`);
    expect((await remove()).body).toMatchObject({ jobID: body.jobID, status: "dismissed" });
    const again = await remove();
    expect([again.status, again.body.status]).toEqual([200, "dismissed"]);
    gate.open();
    const info = await ended(body.jobID);
    expect(info.status).toBe("dismissed");
    expect(linkTo(info, `${service.url}/api/docs#resume`)).toBe(`${service.url}/api/jobs/${body.jobID}/resume`);
    const gone = await get(`/jobs/${body.jobID}/results`);
    expect([gone.status, gone.body.detail]).toEqual([422, expect.stringContaining("dismissed")]);
    // The next execution is a run of its own.
    const next = await execute("held", { inputs: { n: 1 } });
    expect(next.body.jobID).not.toBe(body.jobID);
    expect((await ended(next.body.jobID)).status).toBe("successful");
    const final = await service.call("DELETE", `/ogc/jobs/${next.body.jobID}`);
    expect([final.status, final.body.detail]).toEqual([409, expect.stringContaining("completed")]);
  });

  test("a job that failed gives the reason in place of results, waited for or not", async () => {
    const waited = await execute("broken", { inputs: { n: 1 } });
    expect([waited.status, waited.body.type]).toEqual([422, "urn:fanfold:error:dry_river"]);
    expect(waited.body.detail).toContain("the river is dry");
    const { body } = await execute("broken", { inputs: { n: 2 } }, async_);
    const info = await ended(body.jobID);
    expect(info).toMatchObject({ status: "failed", message: expect.stringContaining("the river is dry") });
    expect((await get(`/jobs/${body.jobID}/results`)).body.type).toBe("urn:fanfold:error:dry_river");
    expect(linkTo(info, `${rel}/results`)).toBeUndefined();
    expect(linkTo(info, `${rel}/exceptions`)).toBeDefined();
  });

  test("a partial success is successful, says what is missing, and offers to go on", async () => {
    const { status, body } = await execute("partly", { inputs: { n: 4 } }, { accept: "application/json" });
    expect([status, body]).toEqual([
      200,
      expect.objectContaining({ status: "partial_success", completed: 2, failed: 2 }),
    ]);
    const { jobs: listed } = (await get("/jobs?processID=partly")).body;
    expect(listed).toHaveLength(1);
    const info = (await get(`/jobs/${listed[0].jobID}`)).body;
    expect(info).toMatchObject({ status: "successful", message: expect.stringMatching(/^Partial success: 2 of 4/) });
    expect(linkTo(info, `${service.url}/api/docs#resume`)).toBeDefined();
    const tasks = await service.call("GET", new URL(body.tasks.href).pathname);
    expect(tasks.status).toBe(200);
  });

  test("the job list is filtered as the standard says, and its pages have every job once", async () => {
    const all: string[] = [];
    let next: string | undefined = "/jobs?limit=2";
    while (next !== undefined) {
      const { body }: Answered = await get(next);
      all.push(...body.jobs.map(({ jobID }: Loose) => jobID));
      next = linkTo(body, "next")?.replace(`${service.url}/ogc`, "");
    }
    expect(new Set(all).size).toBe(all.length);
    const count = async (query: string) => (await get(`/jobs?limit=1000&${query}`)).body.jobs.length;
    expect(await count("type=process")).toBe(all.length);
    expect(await count("status=failed")).toBe(2);
    expect((await count("status=successful")) + (await count("status=failed,dismissed"))).toBe(all.length);
    expect(await count("processID=broken,partly")).toBe(3);
    expect(await count("datetime=../2000-01-01T00:00:00Z")).toBe(0);
    expect(await count("datetime=2000-01-01T00:00:00Z/..")).toBe(all.length);
    expect(await count("minDuration=3600")).toBe(0);
    expect(await count("maxDuration=3600")).toBe(all.length);
  });

  test("whatever is not there is named by the standard's exceptions", async () => {
    const never = "0".repeat(64);
    for (const [path, type] of [
      ["/processes/nothing", "no-such-process"],
      ["/processes/recipe.nothing", "no-such-process"],
      [`/jobs/${never}`, "no-such-job"],
      ["/jobs/nothing", "no-such-job"],
      [`/jobs/${never}/results`, "no-such-job"],
      [`/jobs/${never}/results/x`, "no-such-job"],
    ]) {
      const { status, body } = await get(path!);
      expect([path, status, body.type]).toEqual([path, 404, `${exceptions}/${type}`]);
      expect(body).toMatchObject({ title: expect.any(String), status: 404, detail: expect.any(String) });
    }
    expect((await execute("nothing", { inputs: {} })).body.type).toBe(`${exceptions}/no-such-process`);
    expect((await service.call("DELETE", `/ogc/jobs/${never}`)).body.type).toBe(`${exceptions}/no-such-job`);
  });

  test("whatever is wrong with a request is told at once", async () => {
    const { status, headers, body } = await execute("echo", {
      input: {},
      inputs: { text: 5, number: { value: "x", mediaType: "text/plain" }, bytes: { type: "wrong/type" }, txt: "" },
      outputs: { texts: {}, text: { transmissionMode: "post" } },
      response: "xml",
      subscriber: { successUri: "ftp://example", failed: "x" },
    });
    expect([status, headers.get("content-type")]).toEqual([400, "application/json; charset=utf-8"]);
    const paths = body.problems.map(({ path }: Loose) => path);
    for (const path of [
      "input",
      "inputs.text",
      "inputs.number",
      "inputs.bytes",
      "inputs.txt",
      "outputs.texts",
      "outputs.text.transmissionMode",
      "response",
      "subscriber.successUri",
      "subscriber.failed",
    ])
      expect(paths).toContain(path);
    const list = await get("/jobs?status=done&type=wps&minDuration=x&datetime=yesterday&token=x&limit=0&processID=A");
    expect([list.status, list.body.problems.length]).toEqual([400, 7]);
    expect((await get("/jobs?statuss=failed")).status).toBe(400);
  });

  test("another tenant sees nothing of it, and scopes hold as everywhere", async () => {
    const { body } = await execute("echo", { inputs: { text: "mine" } }, async_);
    await ended(body.jobID);
    const other = await service.key("globex");
    for (const path of [`/jobs/${body.jobID}`, `/jobs/${body.jobID}/results`, `/jobs/${body.jobID}/results/text`])
      expect((await service.call("GET", `/ogc${path}`, { key: other })).body.type).toBe(`${exceptions}/no-such-job`);
    expect((await service.call("GET", "/ogc/jobs", { key: other })).body.jobs).toEqual([]);
    const reader = await service.key("default", ["read"]);
    expect((await execute("echo", { inputs: {} }, {}, reader)).status).toBe(403);
    expect((await service.call("DELETE", `/ogc/jobs/${body.jobID}`, { key: reader })).status).toBe(403);
    expect((await service.call("GET", `/ogc/jobs/${body.jobID}`, { key: reader })).status).toBe(200);
  });
});
