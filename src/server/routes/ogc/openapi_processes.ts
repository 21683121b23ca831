// The part of the OGC API's OpenAPI document that OGC API Processes is: its paths, and what stands in its bodies and answers. Pure.
import { json } from "./links.js";
import { content, get, inPath, type Json, object, page_text, query, ref, text } from "./openapi_parts.js";

const f = query("f", "The format; when left out, as the header Accept asks for", {
  type: "string",
  enum: ["json", "html"],
});
const limit = query("limit", "How many at most", { type: "integer", minimum: 1, maximum: 1000, default: 50 });
const token = query("token", "As a `next` link has it, unchanged", text);
const process = inPath("processID", "A process's id");
const job = inPath("jobId", "A job's id");
const list = { type: "array", items: text };

/** For these calls the standard wants exceptions as plain JSON. */
const exception = (description: string) => ({ description, content: content({ [json]: ref("processException") }) });

interface Call {
  id: string;
  tag: "Processes" | "Jobs";
  summary: string;
  parameters: Json[];
  answers: Record<string, Json>;
  statuses?: Record<string, Json>;
}

function read(call: Call): Json {
  const { get: made } = get(call) as { get: Json & { responses: Record<string, Json> } };
  return { get: { ...made, responses: { ...withExceptions(made.responses), ...call.statuses } } };
}

function withExceptions(responses: Record<string, Json>): Record<string, Json> {
  return Object.fromEntries(
    Object.entries({ ...responses, "404": exception("There is no such thing") }).map(([status, one]) => [
      status,
      Number(status) >= 400 ? exception(String(one.description)) : one,
    ]),
  );
}

function change(call: Call & { body?: Json }): Json {
  const { get: made } = read(call) as { get: Json & { responses: Record<string, Json> } };
  const { "304": _, ...responses } = made.responses;
  const body =
    call.body === undefined ? {} : { requestBody: { required: true, content: content({ [json]: call.body }) } };
  return { ...made, ...body, responses: { ...responses, ...call.statuses } };
}

const nothing_there = {
  "204": { description: "The output is where the header Link says" },
  "422": exception("The job did not end well: why, and what to do"),
};
const any_value = {
  oneOf: [text, { type: "number" }, { type: "boolean" }, { type: "array", items: {} }, { type: "object" }],
};
const results = {
  [json]: ref("results"),
  "multipart/related": text,
  "text/plain": text,
  "application/octet-stream": { type: "string", format: "binary" },
};

export const processes_paths: Record<string, Json> = {
  "/processes": read({
    id: "getProcesses",
    tag: "Processes",
    summary: "What can be executed",
    parameters: [
      query("limit", "How many at most", { type: "integer", minimum: 1, maximum: 1000, default: 1000 }),
      token,
      f,
    ],
    answers: { [json]: ref("processList"), ...page_text },
  }),
  "/processes/{processID}": read({
    id: "getProcessDescription",
    tag: "Processes",
    summary: "One process: what it takes and gives",
    parameters: [process, f],
    answers: { [json]: ref("process"), ...page_text },
  }),
  "/processes/{processID}/execution": {
    post: {
      ...change({
        id: "execute",
        tag: "Processes",
        summary: "Execute a process",
        parameters: [process],
        answers: results,
        body: ref("execute"),
        statuses: {
          "201": {
            description: "A job does it",
            headers: { Location: { description: "The job", schema: text }, "Preference-Applied": { schema: text } },
            content: content({ [json]: ref("statusInfo") }),
          },
          ...nothing_there,
        },
      }),
      callbacks: {
        jobCompleted: callback("$request.body#/subscriber/successUri", "results", "The results, when it ended well"),
        jobInProgress: callback("$request.body#/subscriber/inProgressUri", "statusInfo", "That it was taken"),
        jobFailed: callback("$request.body#/subscriber/failedUri", "statusInfo", "That it failed or was dismissed"),
      },
    },
  },
  "/jobs": read({
    id: "getJobs",
    tag: "Jobs",
    summary: "Jobs, newest first",
    parameters: [
      limit,
      token,
      query("type", "Of jobs: all are of type process", {
        type: "array",
        items: { type: "string", enum: ["process"] },
      }),
      query("processID", "Only those of these processes", list),
      query("status", "Only those", {
        type: "array",
        items: { type: "string", enum: ["accepted", "running", "successful", "failed", "dismissed"] },
      }),
      query("datetime", "Created then: an RFC 3339 instant, or an interval start/end with .. for an open end", text),
      query("minDuration", "Seconds that it has worked at least", { type: "number", minimum: 0 }),
      query("maxDuration", "Seconds that it has worked at most", { type: "number", minimum: 0 }),
      f,
    ],
    answers: { [json]: ref("jobList"), ...page_text },
  }),
  "/jobs/{jobId}": {
    ...read({
      id: "getStatus",
      tag: "Jobs",
      summary: "How a job is",
      parameters: [job, f],
      answers: { [json]: ref("statusInfo"), ...page_text },
    }),
    delete: change({
      id: "dismiss",
      tag: "Jobs",
      summary: "Dismiss a job: it is cancelled; what it has delivered stays",
      parameters: [job],
      answers: { [json]: ref("statusInfo") },
      statuses: { "409": exception("It has ended otherwise") },
    }),
  },
  "/jobs/{jobId}/results": read({
    id: "getResult",
    tag: "Jobs",
    summary: "The results of a job, in the way it was executed",
    parameters: [job, f],
    answers: results,
    statuses: nothing_there,
  }),
  "/jobs/{jobId}/results/{outputId}": read({
    id: "getOutput",
    tag: "Jobs",
    summary: "One output of a job, by itself",
    parameters: [job, inPath("outputId", "One of the outputs")],
    answers: {
      [json]: any_value,
      "text/plain": text,
      "application/octet-stream": { type: "string", format: "binary" },
    },
    statuses: { "422": nothing_there["422"] },
  }),
};

function callback(address: string, schema: string, description: string): Json {
  const requestBody = { content: content({ [json]: ref(schema) }) };
  return {
    [`{${address}}`]: {
      post: { summary: description, requestBody, responses: { "200": { description: "It was heard" } } },
    },
  };
}

const links = { type: "array", items: ref("link") };
const described = { title: text, description: text };
const summary = {
  ...described,
  id: text,
  version: text,
  jobControlOptions: { type: "array", items: { type: "string", enum: ["sync-execute", "async-execute", "dismiss"] } },
  outputTransmission: { type: "array", items: { type: "string", enum: ["value", "reference"] } },
  links,
};

export const processes_schemas: Record<string, Json> = {
  processSummary: object(["id", "version"], summary),
  processList: object(["processes", "links"], { processes: { type: "array", items: ref("processSummary") }, links }),
  process: object(["id", "version"], {
    ...summary,
    inputs: {
      type: "object",
      additionalProperties: object(["schema"], {
        ...described,
        minOccurs: { type: "integer" },
        maxOccurs: { type: "integer" },
        schema: { type: "object" },
      }),
    },
    outputs: { type: "object", additionalProperties: object(["schema"], { ...described, schema: { type: "object" } }) },
  }),
  execute: object([], {
    inputs: { type: "object", additionalProperties: any_value },
    outputs: {
      type: "object",
      additionalProperties: object([], {
        transmissionMode: { type: "string", enum: ["value", "reference"], default: "value" },
      }),
    },
    response: { type: "string", enum: ["raw", "document"], default: "raw" },
    subscriber: object(["successUri"], { successUri: text, inProgressUri: text, failedUri: text }),
  }),
  statusInfo: object(["jobID", "status", "type"], {
    processID: text,
    type: { type: "string", enum: ["process"] },
    jobID: text,
    status: { type: "string", enum: ["accepted", "running", "successful", "failed", "dismissed"] },
    message: text,
    created: { type: "string", format: "date-time" },
    started: { type: "string", format: "date-time" },
    finished: { type: "string", format: "date-time" },
    updated: { type: "string", format: "date-time" },
    progress: { type: "integer", minimum: 0, maximum: 100 },
    links,
  }),
  jobList: object(["jobs", "links"], { jobs: { type: "array", items: ref("statusInfo") }, links }),
  results: { type: "object", additionalProperties: any_value },
  processException: object(["type"], {
    type: text,
    title: text,
    status: { type: "integer" },
    detail: text,
    instance: text,
  }),
};
