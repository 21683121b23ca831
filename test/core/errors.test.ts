// The closed table of errors, and what a thrown value means for the attempt that threw it.
import { describe, expect, test } from "vitest";
import { z } from "zod";
import {
  BadRequest,
  Conflict,
  ContractViolation,
  classify,
  DeclarationError,
  error_table,
  FanfoldError,
  Forbidden,
  fromSqlError,
  isFanfoldError,
  NotAllowedNow,
  NotFound,
  ParameterError,
  Permanent,
  StaleWorker,
  StorageError,
  Throttled,
  TooLarge,
  Transient,
  ValueProblems,
} from "../../src/core/errors/errors.js";
import { max_message_bytes, max_stack_bytes } from "../../src/core/errors/failures.js";

const verdict = (error: unknown) => {
  const { category, code, retry_after_s } = classify(error);
  return retry_after_s === undefined ? `${category} ${code}` : `${category} ${code} ${retry_after_s}`;
};

describe("the error table", () => {
  const problem = { path: "$", problem: "p", fix: "f" };
  test.each([
    [new NotFound("m"), "FF001", 404, "permanent not_found"],
    [new BadRequest("m"), "FF002", 400, "permanent bad_request"],
    [new Conflict("m"), "FF003", 409, "permanent conflict"],
    [new TooLarge("m"), "FF004", 413, "permanent too_large"],
    [new Forbidden("m"), "FF005", 403, "permanent forbidden"],
    [new NotAllowedNow("m"), "FF006", 409, "permanent not_allowed_now"],
    [new StaleWorker("m"), "FF007", 409, "transient stale_worker"],
    [new ContractViolation("m"), null, 500, "contract contract"],
    [new ValueProblems([problem]), null, 400, "permanent bad_value"],
    [new ParameterError("t", [problem]), null, 400, "permanent bad_parameters"],
    [new DeclarationError([problem]), null, 400, "contract bad_declaration"],
    [new StorageError("missing", "m"), null, 500, "permanent storage"],
    [new StorageError("altered", "m"), null, 500, "permanent storage"],
    [new StorageError("unavailable", "m"), null, 500, "transient storage"],
    [new Transient("m"), null, 503, "transient transient"],
    [new Throttled(3), null, 429, "throttled throttled 3"],
    [new Permanent("m"), null, 500, "permanent permanent"],
  ])("%s has its SQLSTATE, status and category", (error, sqlstate, http_status, expected) => {
    expect(error).toMatchObject({ sqlstate, http_status });
    expect(verdict(error)).toBe(expected);
    expect(error.name).toBe(error.constructor.name);
  });

  test("is closed: every code has a class and no SQLSTATE is given twice", () => {
    const states = Object.values(error_table).flatMap(({ sqlstate }) => sqlstate ?? []);
    expect(new Set(states).size).toBe(states.length);
    for (const sqlstate of states) expect(fromSqlError({ code: sqlstate, message: "m" })).toBeInstanceOf(FanfoldError);
  });
});

describe("an error raised by our SQL", () => {
  test("becomes the class of its SQLSTATE, with the problems of its DETAIL and its hint", () => {
    const raised = {
      code: "FF002",
      message: "bad blueprint",
      detail: '[{"path":"$.a","problem":"p","fix":"f"}]',
      hint: "h",
    };
    const error = fromSqlError(raised);
    expect(error).toBeInstanceOf(BadRequest);
    expect(error).toMatchObject({ hint: "h", problems: [{ path: "$.a", problem: "p", fix: "f" }], cause: raised });
    expect(error?.message).toBe("bad blueprint:\n- $.a: p\n  f");
    expect(error?.title).toBe("bad blueprint");
  });

  test.each(["not json", "{}", "[1]", '[{"path":7}]', undefined, 5])("survives a DETAIL like %j", (detail) => {
    expect(fromSqlError({ code: "FF001", message: "m", detail })).toBeInstanceOf(NotFound);
  });

  test.each([null, undefined, "FF001", {}, { code: 1 }, { code: "23505" }, { code: "FF999" }, { code: "constructor" }])(
    "is none of ours when it is %j",
    (error) => {
      expect(fromSqlError(error)).toBeNull();
    },
  );

  test("thrown inside a handler keeps its code", () => {
    expect(verdict(Object.assign(new Error("m"), { code: "FF003" }))).toBe("permanent conflict");
    expect(verdict(Object.assign(new Error("m"), { code: "FF007" }))).toBe("transient stale_worker");
  });
});

describe("what a handler throws", () => {
  test("may carry a code of its own; a malformed one is not taken", () => {
    expect(verdict(new Permanent("m", { code: "no_such_tile" }))).toBe("permanent no_such_tile");
    expect(verdict(new Transient("m", { code: "Not A Code" }))).toBe("transient transient");
    expect(verdict(new Throttled(1, "m", { code: "x".repeat(100) }))).toBe("throttled throttled 1");
  });

  test.each([
    [0, 0],
    [1.5, 1.5],
    [1e9, 86_400],
    [-1, undefined],
    [Number.NaN, undefined],
    [Number.POSITIVE_INFINITY, undefined],
    [undefined, undefined],
  ])("to wait %d s is kept within a day as %d", (asked, kept) => {
    expect(classify(new Throttled(asked)).retry_after_s).toBe(kept);
  });

  test("an abort or a time-out is transient", () => {
    expect(verdict(AbortSignal.abort().reason)).toBe("transient timeout");
    expect(verdict(new DOMException("late", "TimeoutError"))).toBe("transient timeout");
  });

  test.each([
    [400, "permanent http_400"],
    [401, "permanent http_401"],
    [404, "permanent http_404"],
    [408, "transient http_408"],
    [409, "permanent http_409"],
    [422, "permanent http_422"],
    [425, "transient http_425"],
    [429, "throttled http_429"],
    [500, "transient http_500"],
    [503, "transient http_503"],
    [599, "transient http_599"],
    [200, "transient unexpected"],
    [600, "transient unexpected"],
    [400.5, "transient unexpected"],
    ["404", "transient unexpected"],
  ])("HTTP status %j is %s", (status, expected) => {
    expect(verdict(Object.assign(new Error("m"), { status }))).toBe(expected);
    expect(verdict(Object.assign(new Error("m"), { statusCode: status }))).toBe(expected);
    expect(verdict(Object.assign(new Error("m"), { response: { status } }))).toBe(expected);
  });

  test.each([
    ["fetch's Headers", new Headers({ "Retry-After": "7" }), "throttled http_429 7"],
    ["an object in any spelling", { "RETRY-after": "7" }, "throttled http_429 7"],
    ["a number", { "retry-after": 7 }, "throttled http_429 7"],
    ["a list", { "retry-after": ["7", "9"] }, "throttled http_429 7"],
    ["a Map", new Map([["retry-after", "7"]]), "throttled http_429 7"],
    ["zero", { "retry-after": "0" }, "throttled http_429 0"],
    ["much", { "retry-after": "999999999" }, "throttled http_429 86400"],
    [
      "a date beside the reply's own",
      { "retry-after": "Wed, 21 Oct 2015 07:28:30 GMT", date: "Wed, 21 Oct 2015 07:28:00 GMT" },
      "throttled http_429 30",
    ],
    [
      "a date that is past",
      { "retry-after": "Wed, 21 Oct 2015 07:27:00 GMT", date: "Wed, 21 Oct 2015 07:28:00 GMT" },
      "throttled http_429 0",
    ],
    ["a date without another to compare", { "retry-after": "Wed, 21 Oct 2015 07:28:30 GMT" }, "throttled http_429"],
    ["nonsense", { "retry-after": "soon" }, "throttled http_429"],
    ["a negative number", { "retry-after": "-5" }, "throttled http_429"],
    ["no headers at all", undefined, "throttled http_429"],
  ])("Retry-After as %s is read without a clock", (_, headers, expected) => {
    expect(verdict(Object.assign(new Error("m"), { status: 429, headers }))).toBe(expected);
    expect(verdict(Object.assign(new Error("m"), { response: { status: 429, headers } }))).toBe(expected);
  });

  test("a 503 that says when to come back is throttled", () => {
    expect(verdict({ status: 503, headers: { "retry-after": "5" } })).toBe("throttled http_503 5");
  });

  test.each([
    ["08006", "transient sqlstate_08006"],
    ["40001", "transient sqlstate_40001"],
    ["40P01", "transient sqlstate_40p01"],
    ["53300", "transient sqlstate_53300"],
    ["57P01", "transient sqlstate_57p01"],
    ["57014", "transient sqlstate_57014"],
    ["22003", "permanent sqlstate_22003"],
    ["23505", "permanent sqlstate_23505"],
    ["42P01", "permanent sqlstate_42p01"],
    ["XX000", "transient unexpected"],
    ["EPERM", "transient unexpected"],
    ["ECONNRESET", "transient econnreset"],
    ["ENOSPC", "transient enospc"],
    ["55P03", "transient sqlstate_55p03"],
    ["58030", "transient sqlstate_58030"],
    [40001, "transient unexpected"],
  ])("database code %j is %s", (code, expected) => {
    expect(verdict(Object.assign(new Error("m"), { code }))).toBe(expected);
  });

  test("a zod error breaks a contract and tells where", () => {
    const { error } = z.object({ a: z.object({ n: z.number() }) }).safeParse({ a: { n: "x" } });
    expect(verdict(error)).toBe("contract contract");
    expect(classify(error).detail?.problems).toMatchObject([{ path: "$.a.n" }]);
  });

  test("an error that wraps another means what it wraps, unless it says more itself", () => {
    expect(verdict(new Error("while reading", { cause: new Permanent("gone") }))).toBe("permanent permanent");
    expect(verdict(new Error("a", { cause: new Error("b", { cause: { status: 404 } }) }))).toBe("permanent http_404");
    expect(verdict(new Transient("try again", { cause: new Permanent("gone") }))).toBe("transient transient");
    expect(classify(new Error("while reading", { cause: new Permanent("gone") })).message).toBe("while reading");
    const circle: Error & { cause?: unknown } = new Error("circle");
    circle.cause = circle;
    expect(verdict(circle)).toBe("transient unexpected");
  });

  test("is never judged by its message", () => {
    expect(verdict(new Error("permanent failure: 404 not found, do not retry"))).toBe("transient unexpected");
  });

  test.each([
    new TypeError("x is not a function"),
    new ReferenceError("x is not defined"),
    new RangeError("Invalid array length"),
    Object.assign(new Error("1 == 2"), { name: "AssertionError" }),
  ])("is a bug when only code makes it: %s", (mistake) => {
    expect(verdict(mistake)).toBe("transient bug");
    const wrapped = new TypeError("fetch failed", { cause: Object.assign(new Error("no"), { code: "ECONNREFUSED" }) });
    expect(verdict(wrapped)).toBe("transient econnrefused");
    expect(verdict(new TypeError("odd", { cause: new Error("who knows") }))).toBe("transient unexpected");
  });

  test.each([
    ["a string", "thrown: boom", "boom"],
    ["null", "thrown: null", null],
    ["undefined", "thrown: undefined", undefined],
    ["a number", "thrown: 7", 7],
    ["a symbol", "thrown: Symbol(x)", Symbol("x")],
    ["an object", 'thrown: {"a":1}', { a: 1 }],
    ["an object without text", "thrown: something that cannot be shown", { a: 1n }],
    ["an error without a message", "Error", new Error()],
    [
      "a proxy that throws",
      "thrown: something that cannot be shown",
      new Proxy(
        {},
        {
          get() {
            throw new Error("no");
          },
          ownKeys() {
            throw new Error("no");
          },
        },
      ),
    ],
  ])("may be %s", (_, message, thrown) => {
    expect(classify(thrown)).toMatchObject({ category: "transient", code: "unexpected", message });
  });

  test("is understood when it comes from another copy of this package", () => {
    const foreign = Object.assign(new Error("m"), { category: "permanent", code: "permanent", problems: [] });
    Object.defineProperty(foreign, Symbol.for("fanfold.error"), { value: true });
    expect(isFanfoldError(foreign)).toBe(true);
    expect(verdict(foreign)).toBe("permanent permanent");
  });
});

describe("what is kept of an error", () => {
  const bytes = (text: string | undefined) => Buffer.byteLength(text ?? "");

  test("is bounded in bytes and cut at a character's edge", () => {
    for (const filler of ["x", "ä", "€", "😀"]) {
      const error = new Error(filler.repeat(100_000));
      const { message, detail } = classify(error);
      expect(bytes(message)).toBeLessThanOrEqual(max_message_bytes);
      expect(bytes(message)).toBeGreaterThan(max_message_bytes - 8);
      expect(bytes(detail?.stack)).toBeLessThanOrEqual(max_stack_bytes);
      expect(message.replaceAll(filler, "")).toBe("…");
    }
  });

  test("is text that Postgres takes", () => {
    const { message } = classify(new Error("a\0b\ud800c"));
    expect(message).toBe("a\uFFFDb\uFFFDc");
  });

  test("is whole when it just fits", () => {
    const text = "x".repeat(max_message_bytes);
    expect(classify(new Error(text)).message).toBe(text);
    expect(classify(new Error(`${text}x`)).message).toHaveLength(max_message_bytes - 2);
  });

  test("has the stack, the name and the numbers behind the verdict", () => {
    const { detail } = classify(Object.assign(new RangeError("m"), { status: 500 }));
    expect(detail).toMatchObject({ name: "RangeError", status: 500 });
    expect(detail?.stack).toContain("errors.test.ts");
  });

  test("is JSON", () => {
    const failure = classify(new ParameterError("t", [{ path: "$", problem: "p", fix: "f" }]));
    expect(JSON.parse(JSON.stringify(failure))).toEqual(failure);
  });
});
