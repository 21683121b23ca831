// Small jobs made by chance, for tests that run the same jobs in two ways: stages of every parallelism, branches, conditions, gates,
// budgets and importances, in groups, behind each other, with receivers. The same seed makes the same jobs.
import type { Fate, StageData } from "./floor.js";

export interface RandomJob {
  type: string;
  stages: StageData[];
  /** Submitted together where the way under test submits in sets: they share the blueprint. */
  items: { parameters: { n: number; flag: boolean; items: object[] }; options: Record<string, unknown> }[];
}

export const task_types = ["t.a", "t.b"];
export const groups = { counted: 1000, open: null } as const;

export class RandomJobs {
  constructor(private readonly chance: () => number) {}

  of(count: number): RandomJob[] {
    return Array.from({ length: count }, (_, n) => this.#job(n));
  }

  /** How a task ends, by what it is and not by when it is asked: both ways ask in another order. */
  static fate(task: { job: number; stage: string; ordinal: number }, healthy: boolean): Fate {
    const mark = (task.job * 31 + task.stage.charCodeAt(1) * 7 + task.ordinal * 13) % 17;
    if (!healthy && mark < 3) return { category: "permanent" };
    const result = { items: Array.from({ length: mark % 4 }, (_, n) => ({ n })) };
    return mark % 2 === 0 ? { result } : { result, next_stage_params: { from: task.ordinal } };
  }

  #job(n: number): RandomJob {
    const stages: StageData[] = [];
    const plain = this.#happens(0.4);
    for (let number = 1, count = this.#pick([1, 1, 2, 2, 3, 4, 5]); number <= count; number++) {
      stages.push(this.#stage(number, plain));
    }
    const items = Array.from({ length: this.#pick([1, 1, 1, 2, 3]) }, (_, copy) => ({
      parameters: { n: n * 10 + copy, flag: this.#happens(0.5), items: [{ x: 1 }, { x: 2 }] },
      options: this.#happens(0.5) ? {} : this.#options(),
    }));
    return { type: `job_${n}`, stages, items };
  }

  #stage(number: number, plain: boolean): StageData {
    const before = Array.from({ length: number - 1 }, (_, n) => n + 1);
    const after = this.#pick([undefined, undefined, [], before.filter(() => this.#happens(0.5))]);
    const previous = after ?? before.slice(-1);
    if (plain) return { name: `s${number}`, task: this.#pick(task_types), after, max_attempts: 1 };
    const parallelism = previous.length === 0 ? "single" : this.#pick(["single", "single", "single", ...wide]);
    const planned = parallelism === "fan_out" || (parallelism === "single" && this.#happens(0.25));
    return {
      name: `s${number}`,
      task: this.#pick(task_types),
      after,
      parallelism,
      of: parallelism === "single" ? undefined : previous.at(-1),
      batch: parallelism === "fan_in" && this.#happens(0.4) ? 2 : undefined,
      plan: planned ? this.#plan(parallelism) : undefined,
      importance: this.#pick(["critical", "important", "optional", undefined]),
      failure_budget: this.#pick([undefined, undefined, { count: 1 }, { percent: 50 }]),
      on_task_failure: this.#happens(0.15) ? "fail_fast" : undefined,
      when: this.#happens(0.2) ? { path: this.#condition(previous) } : undefined,
      gate: this.#happens(0.1) ? { message: "May it run?" } : undefined,
      max_attempts: 1,
    };
  }

  #plan(parallelism: string): object {
    if (parallelism === "fan_out") return { each: "$.items[*]", parameters: { from: "{n}" } };
    return this.#pick([{ count: 0 }, { count: 3 }, { each: "$.items[*]" }, { count: 1, index: "one" }]);
  }

  #condition(previous: number[]): string {
    const [before] = previous;
    if (before === undefined) return "$.parameters.flag == true";
    return this.#pick([
      "$.parameters.flag == true",
      `$.stages.s${before}.status == "completed"`,
      `$.stages.s${before}.cancelled == 0`,
      `$.stages.s${before}.completed > 1`,
    ]);
  }

  #options(): Record<string, unknown> {
    const one_of = <T>(share: number, value: T) => (this.#happens(share) ? value : undefined);
    return {
      priority: one_of(0.3, 3),
      group_id: one_of(0.5, this.#pick(Object.keys(groups))),
      webhooks: one_of(0.3, [{ url: "https://hooks.example.com/in", secret: "secret://hook" }]),
      depends: one_of(0.5, this.#pick([1, 2, 3])),
      on_dependency_failure: one_of(0.3, "run"),
      require: one_of(0.3, "completed"),
      deadline_s: one_of(0.3, 600),
      deadline_from: one_of(0.3, "submit"),
    };
  }

  #happens(share: number): boolean {
    return this.chance() < share;
  }

  #pick<T>(list: readonly T[]): T {
    return list[Math.floor(this.chance() * list.length)]!;
  }
}

const wide = ["fan_in", "fan_in", "match_previous", "match_previous", "fan_out"];
