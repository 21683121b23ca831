// The job types there are for a tenant: those the process registered, and those the tenant saved as data. A registered one wins.
import { LRUCache } from "lru-cache";
import type { blueprints_api } from "../../core/api/blueprints.js";
import type { ReplyOf } from "../../core/api/endpoint.js";
import type { Blueprint } from "../../core/declare/blueprint.js";
import { usual_deadline_s } from "../../core/declare/deadline.js";
import type { Job } from "../../core/declare/declare.js";
import { name_pattern } from "../../core/declare/names.js";
import type { Registry } from "../../core/declare/registry.js";
import { readDeclaration } from "../../core/declare/saved_blueprint.js";
import { Conflict, DeclarationError, NotFound } from "../../core/errors/errors.js";
import { type Problem, quoted, suggestion } from "../../core/errors/problems.js";
import type { Queryable } from "../database/database.js";
import { asked } from "./reply.js";

/** What is told beside a declaration: where it is, and of a saved one who saved what. */
export type Kept = Pick<
  ReplyOf<typeof blueprints_api.get>,
  "source" | "version" | "saved_at" | "saved_by" | "declaration"
>;
export type BlueprintRecord = Blueprint & Kept;

interface Saved {
  job_type: string;
  version: number;
  blueprint: Blueprint;
  saved_at: string;
  saved_by: string;
  declaration: Record<string, unknown> | null;
}

export interface SavedReply {
  blueprint: BlueprintRecord;
  created: boolean;
  changed: boolean;
  warnings: Problem[];
}

/** A version never changes, so what was made of it is kept, for all tenants of this process. */
const made = new LRUCache<string, Job>({ max: 1_000 });

export class Blueprints {
  constructor(
    private readonly db: Queryable,
    private readonly tenant: string,
    private readonly registry: Registry,
  ) {}

  /** The job type to submit by. Throws NotFound with what was perhaps meant. */
  async find(type: string): Promise<Job> {
    const registered = this.registry.jobs.get(type);
    if (registered !== undefined) return registered;
    const [saved] = name_pattern.test(type) ? await this.#saved(type) : [];
    if (saved === undefined) throw this.#missing(type);
    const key = JSON.stringify([this.tenant, type, saved.version, saved.saved_at]);
    const known = made.get(key);
    if (known !== undefined) return known;
    const { job, problems } = readDeclaration(type, saved.declaration, this.registry.handlers);
    if (job === null) throw new DeclarationError(problems);
    made.set(key, job);
    return job;
  }

  async list(): Promise<BlueprintRecord[]> {
    const saved = (await this.#saved(null)).filter(({ job_type }) => !this.registry.jobs.has(job_type));
    return [...[...this.registry.jobs.values()].map(ofRegistered), ...saved.map(ofSaved)].sort((a, b) =>
      a.type < b.type ? -1 : 1,
    );
  }

  async get(type: string): Promise<BlueprintRecord> {
    const registered = this.registry.jobs.get(type);
    if (registered !== undefined) return ofRegistered(registered);
    const [saved] = name_pattern.test(type) ? await this.#saved(type) : [];
    if (saved === undefined) throw this.#missing(type);
    return ofSaved(saved);
  }

  /** Everything that saving it would be refused for, and what may keep its jobs from running. */
  async validate(
    type: unknown,
    declaration: unknown,
  ): Promise<{ problems: Problem[]; warnings: Problem[]; job: Job | null }> {
    const { job, blueprint, problems } = readDeclaration(type, declaration, this.registry.handlers);
    if (typeof type === "string" && this.registry.jobs.has(type)) problems.push(registeredProblem(type));
    const text = JSON.stringify(blueprint);
    const checked = await asked<{ problems: (Problem & { code?: string })[]; unserved: string[] }>(
      this.db.sql`select app.check_blueprint(${text}::text::jsonb, ${this.tenant}::text) as reply`,
    );
    // What only the database can see: whether a path is one it understands. All else was told above, in better words.
    const ours =
      problems.length > 0 ? checked.problems.filter(({ code }) => code === "not_jsonpath") : checked.problems;
    problems.push(...ours.map(({ path, problem, fix }) => ({ path, problem, fix })));
    const warnings = checked.unserved
      .filter((task) => task !== "")
      .map((task) => ({
        path: `task type ${task}`,
        problem: "no live worker serves it",
        fix: "Start a worker that has a handler of this name; until then its tasks wait.",
      }));
    return { problems, warnings, job: problems.length === 0 ? job : null };
  }

  async save(
    type: string,
    declaration: Record<string, unknown>,
    { actor = null }: { actor?: string | null } = {},
  ): Promise<SavedReply> {
    if (this.registry.jobs.has(type)) {
      const problem = registeredProblem(type);
      throw new Conflict(`${quoted(type)} ${problem.problem}`, { hint: problem.fix });
    }
    const { job, problems, warnings } = await this.validate(type, declaration);
    if (job === null) throw new DeclarationError(problems);
    const request = JSON.stringify({ tenant: this.tenant, declaration, blueprint: job.blueprint, actor });
    const { created, changed } = await asked<{ created: boolean; changed: boolean }>(
      this.db.sql`select app.put_blueprint(${request}::text::json) as reply`,
    );
    return { blueprint: await this.get(type), created, changed, warnings };
  }

  async remove(
    type: string,
    { reason = null, actor = null }: { reason?: string | null; actor?: string | null } = {},
  ): Promise<{ type: string; changed: boolean }> {
    if (this.registry.jobs.has(type)) {
      throw new Conflict(`${quoted(type)} is registered in code`, {
        hint: "only what was saved as data can be removed",
      });
    }
    return asked(
      this.db.sql`select app.remove_blueprint(
        ${type}::text, ${reason}::text, ${this.tenant}::text, ${actor}::text) as reply`,
    );
  }

  #saved(type: string | null): Promise<Saved[]> {
    return asked(this.db.sql`select app.saved_blueprints(${type}::text, ${this.tenant}::text) as reply`);
  }

  #missing(type: string): NotFound {
    return new NotFound(`There is no job type ${quoted(type)}.`, { hint: suggestion(type, this.registry.jobs.keys()) });
  }
}

function registeredProblem(type: string): Problem {
  return {
    path: "type",
    problem: "is the name of a job type registered in code",
    fix: `Save it under another name than ${quoted(type)}.`,
  };
}

function ofRegistered({ blueprint }: Job): BlueprintRecord {
  return { ...blueprint, source: "registered", version: null, saved_at: null, saved_by: null, declaration: null };
}

function ofSaved({ blueprint, version, saved_at, saved_by, declaration }: Saved): BlueprintRecord {
  return { ...wholeBlueprint(blueprint), source: "saved", version, saved_at, saved_by, declaration };
}

/** What SQL saved may leave out what has a default. */
function wholeBlueprint(blueprint: Blueprint): Blueprint {
  const stages = blueprint.stages.map((stage, at) => {
    const usual = { number: at + 1, parallelism: "single", importance: "critical", after: at === 0 ? [] : [at] };
    return { ...usual, ...stage };
  });
  const usual = { description: null, parameters: null, identity: null, deadline_s: usual_deadline_s };
  return { ...usual, ...blueprint, stages };
}
