// The configuration of a connector: what every connector understands (limits, circuit breaker, a narrower policy), what one
// declares itself, and no secret by value. Pure.
import { z } from "zod";
import { unknownKeys } from "../declare/parameter_schema.js";
import { issueProblems } from "../declare/parameters.js";
import { BadRequest, Permanent } from "../errors/errors.js";
import { formatProblems, jsonPath, type Problem, type Step } from "../errors/problems.js";
import { hasSecret, isSecretKey, secret_name } from "../values/secrets.js";

export const connector_prefix = "connector.";
export const config_name = /^[a-z0-9][a-z0-9_-]{0,62}$/;

const narrowing = z.strictObject({
  allow_http: z.boolean().optional(),
  allow_hosts: z.array(z.string().min(1).max(253)).max(100).optional(),
  ports: z.array(z.int().min(1).max(65_535)).max(100).optional(),
  max_redirects: z.int().min(0).max(10).optional(),
  timeout_s: z.number().positive().max(3600).optional(),
  max_response_bytes: z.int().min(0).optional(),
});

const common = {
  secrets: z
    .array(z.string().regex(secret_name, "the name of a secret, without secret://"))
    .max(100)
    .optional()
    .describe("Secrets that tasks with this configuration may name themselves (secret://name)"),
  outbound: narrowing.optional().describe("What this tenant's calls may do, at most what the operator allows"),
  limits: z
    .strictObject({
      max_concurrent: z.int().min(1).max(10_000).optional(),
      rate_per_s: z.number().positive().max(1_000_000).optional(),
      burst: z.number().min(1).max(1_000_000).optional(),
    })
    .optional()
    .describe("Of all workers together"),
  breaker: z
    .strictObject({
      failures: z.int().min(1).max(10_000).optional(),
      window_s: z.number().positive().max(86_400).optional(),
      cool_down_s: z.number().positive().max(86_400).optional(),
    })
    .optional()
    .describe("So many failures in the window, and no call for the cool-down"),
};
const common_schema = z.object(common);
export type CommonConfig = z.output<typeof common_schema>;

/** What a tenant's stored configuration narrows its calls by. A caller who may speak to the database may have stored anything. */
export function checkedNarrowing(stored: unknown): z.output<typeof narrowing> {
  const read = z.object({ outbound: narrowing }).safeParse({ outbound: stored ?? {} });
  if (read.success) return read.data.outbound;
  const problems = issueProblems(read.error.issues, { outbound: stored ?? {} });
  throw new Permanent(formatProblems("the connector's configuration is not right", problems), {
    code: "wrong_config",
  });
}

/** `own`: what the connector declares; undefined where this process does not know it, and then it may be anything. */
export function checkedConfig(config: unknown, own: z.ZodObject | undefined): CommonConfig & Record<string, unknown> {
  const schema = own === undefined ? z.looseObject(common) : z.strictObject({ ...own.shape, ...common });
  const read = schema.safeParse(config);
  const problems = [
    ...unknownKeys(schema, config),
    ...(read.success
      ? []
      : issueProblems(
          read.error.issues.filter(({ code }) => code !== "unrecognized_keys"),
          config,
        )),
    ...secretProblems(config, []),
    ...hostProblems(config),
  ];
  if (problems.length > 0 || !read.success) {
    throw new BadRequest("This configuration cannot be kept", { problems });
  }
  return read.data;
}

/** What calls put secrets into. */
const filled = ["base_url", "headers", "query", "secrets"];

/** A secret goes where an admin said it may, and nowhere else. */
function hostProblems(config: unknown): Problem[] {
  if (typeof config !== "object" || config === null) return [];
  const given = config as { base_url?: unknown; secrets?: unknown[]; outbound?: { allow_hosts?: unknown } };
  const named = filled.some((key) => holdsSecret((config as Record<string, unknown>)[key]));
  if (!named && !(Array.isArray(given.secrets) && given.secrets.length > 0)) return [];
  const { base_url, outbound } = given;
  if (typeof base_url === "string" && /^[a-z]+:\/\/[^/?#]*secret:/i.test(base_url)) {
    const problem = "has a secret where its host should be";
    return [{ path: "base_url", problem, fix: "write the host itself: https://api.example.com/…" }];
  }
  if (base_url !== undefined || outbound?.allow_hosts !== undefined) return [];
  const fix = 'give base_url, or outbound: {allow_hosts: ["api.example.com"]}';
  return [{ path: "secrets", problem: "a secret is named, and no host that it may go to", fix }];
}

function holdsSecret(value: unknown): boolean {
  if (typeof value === "string") return hasSecret(value);
  return typeof value === "object" && value !== null && Object.values(value).some(holdsSecret);
}

const fix =
  'keep the value with the worker (FANFOLD_SECRET_<TENANT>__<NAME>, or a file) and write "secret://<name>" here';

/** What looks like a secret by its key or by itself. The value is never repeated. */
export function secretProblems(value: unknown, path: readonly Step[]): Problem[] {
  if (typeof value === "string") {
    const key = path.findLast((step) => typeof step === "string");
    const named = key !== undefined && isSecretKey(String(key)) && value !== "";
    if (hasSecret(value) || !(named || secret_shapes.some((shape) => shape.test(value)))) return [];
    return [{ path: jsonPath(path), problem: "looks like a secret, and secrets are given by reference", fix }];
  }
  if (Array.isArray(value)) return value.flatMap((one, at) => secretProblems(one, [...path, at]));
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, one]) => secretProblems(one, [...path, key]));
}

const secret_shapes = [
  /^(Bearer|Basic|Token|ApiKey)\s+\S{8,}/i,
  /\b(sk|pk|rk)_(live|test)_[A-Za-z0-9]{8,}/,
  /\b(gh[pousr]_[A-Za-z0-9]{20,}|github_pat_\w{20,}|glpat-[\w-]{16,})/,
  /\bxox[abprs]-[\w-]{10,}/,
  /\bAKIA[0-9A-Z]{16}\b/,
  /\bwhsec_[A-Za-z0-9+/=]{16,}/,
  /\bff_[a-z0-9]{1,16}_[a-z0-9]{12}_[\w-]{43}\b/,
  /\beyJ[\w-]{8,}\.eyJ[\w-]{8,}\./,
  /-----BEGIN [A-Z ]*PRIVATE KEY-----/,
  /^[a-z][a-z0-9+.-]*:\/\/[^/\s:@]*:[^/\s@]+@/i,
];
