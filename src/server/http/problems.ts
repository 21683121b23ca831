// Errors as RFC 9457 problem details. What is ours is told in full; anything else is our fault or the database's, and the
// caller learns no more than that: details go to the log.
import { STATUS_CODES } from "node:http";
import type { FastifyError } from "fastify";
import type { ProblemDetails } from "../../core/api/problem.js";
import {
  classify,
  type ErrorCode,
  FanfoldError,
  isFanfoldError,
  NotJson,
  Unavailable,
} from "../../core/errors/errors.js";
import { asCallIfAny, sentence } from "../../core/shown/action.js";

/** What Fastify itself refuses, in our words. */
const framework_errors: Record<string, { status: number; code: string; detail: string; hint: string }> = {
  FST_ERR_CTP_BODY_TOO_LARGE: {
    status: 413,
    code: "too_large",
    detail: "the body is larger than this call takes",
    hint: "send less at once, or put the data into storage and pass a reference",
  },
  FST_ERR_CTP_INVALID_MEDIA_TYPE: {
    status: 415,
    code: "bad_media_type",
    detail: "the body is not JSON",
    hint: "send application/json",
  },
  FST_ERR_CTP_EMPTY_JSON_BODY: { status: 400, code: "bad_request", detail: "the body is empty", hint: "send JSON" },
  FST_ERR_BAD_URL: {
    status: 400,
    code: "bad_request",
    detail: "the path is not well encoded",
    hint: "encode each part of the path as UTF-8 with %XX",
  },
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: {
    status: 400,
    code: "bad_request",
    detail: "the body is not as long as Content-Length says",
    hint: "let the HTTP library count",
  },
};

export interface Told {
  problem: ProblemDetails;
  /** Whether the operator must hear of it. */
  is_ours: boolean;
}

export function tellError(error: unknown, request_id: string): Told {
  const own = isFanfoldError(error) ? error : null;
  if (own !== null && (own.http_status < 500 || own instanceof Unavailable))
    return { problem: ofOwn(own, request_id), is_ours: false };
  const framework = framework_errors[(error as FastifyError)?.code];
  if (framework !== undefined) return { problem: shape({ ...framework, request_id }), is_ours: false };
  const status = (error as FastifyError)?.statusCode;
  if (typeof status === "number" && status >= 400 && status < 500) {
    return {
      problem: shape({ status, code: "bad_request", detail: "the request cannot be read", request_id }),
      is_ours: false,
    };
  }
  if (unstorable_sqlstates.has((error as { code?: string })?.code ?? "")) {
    const detail = "a text or a time in the request is one that Postgres cannot store";
    const hint = "remove NUL characters and halves of surrogate pairs; give times of the years 1 to 9999";
    return { problem: shape({ status: 400, code: "bad_value", detail, hint, request_id }), is_ours: false };
  }
  if ((error as { code?: string })?.code === "57014") {
    const detail = "the database took too long for this call, and was told to stop";
    const hint = "try again; ask for less at once, or with a narrower filter";
    return {
      problem: shape({ status: 503, code: "unavailable", detail, hint, request_id, retry_after_s: 2 }),
      is_ours: true,
    };
  }
  if ((error as { code?: string })?.code === "55P03") {
    const detail = "a transaction that has not ended holds what this call would change";
    const hint = "try again; if it stays, look for a transaction that you left open";
    return {
      problem: shape({ status: 503, code: "unavailable", detail, hint, request_id, retry_after_s: 2 }),
      is_ours: true,
    };
  }
  if (changed_schema.has((error as { code?: string })?.code ?? "")) {
    const detail = "the database's schema was changed while this call ran";
    const hint = "try again; if it stays, the schema is not the one of this program: run fanfold migrate";
    return {
      problem: shape({ status: 503, code: "unavailable", detail, hint, request_id, retry_after_s: 2 }),
      is_ours: true,
    };
  }
  // A database that is away, full, read-only or out of connections is nobody's bug, and will pass.
  if (own?.http_status === 503 || isPassing(error)) {
    const detail = "the service cannot do this right now";
    return {
      problem: shape({ status: 503, code: "unavailable", detail, hint: "try again", request_id, retry_after_s: 2 }),
      is_ours: true,
    };
  }
  const detail = "something went wrong on our side";
  const hint = "try again; if it stays, give the operator the request_id";
  return { problem: shape({ status: 500, code: "internal", detail, hint, request_id }), is_ours: true };
}

export function problemOf(code: ErrorCode, detail: string, request_id: string, hint?: string): ProblemDetails {
  return ofOwn(new FanfoldError(code, detail, hint === undefined ? {} : { hint }), request_id);
}

/** Told by the contract as a rule; here as the last line behind it. */
const unstorable_sqlstates: ReadonlySet<string> = new Set(["22021", "22P05", "22008"]);
/** A migration commits while older texts of functions still run: one of them is gone, or its columns are others. */
const changed_schema: ReadonlySet<string> = new Set(["42883", "0A000"]);
/** 55000: the database takes no connections just now. */
const passing_sqlstate = /^(08|53|57|58)|^(25006|40001|40P01|55000)$/;

function isPassing(error: unknown): boolean {
  const { code, category } = classify(error);
  const sqlstate = (error as { code?: unknown })?.code;
  return (
    category === "transient" &&
    ((typeof sqlstate === "string" && passing_sqlstate.test(sqlstate)) || code === "network")
  );
}

function ofOwn(error: FanfoldError, request_id: string): ProblemDetails {
  const { http_status: status, code, title, message, hint, advice, action, problems } = error;
  const wait = (error as { retry_after_s?: number }).retry_after_s;
  return shape({
    status,
    code,
    request_id,
    detail: error instanceof NotJson ? notJson(error) : (title ?? message).slice(0, 2000),
    ...(hint === null ? {} : { hint: sentence(advice ?? hint, action, asCallIfAny) }),
    ...(problems.length === 0 ? {} : { problems: problems.map(({ path, problem, fix }) => ({ path, problem, fix })) }),
    ...(wait === undefined ? {} : { retry_after_s: Math.max(1, Math.ceil(wait)) }),
  });
}

/** What stood before the place where the reading ended matters no more. */
function notJson({ problems }: NotJson): string {
  return `the body ${problems.at(-1)!.problem}`;
}

function shape(given: Omit<ProblemDetails, "type" | "title">): ProblemDetails {
  return { type: `/api/docs#${given.code}`, title: STATUS_CODES[given.status] ?? "Error", ...given };
}
