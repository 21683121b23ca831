// Checks the tasks a planner makes and gathers them into pages of bounded size. No I/O of its own.
import { checkedTask } from "../../core/declare/planned_task.js";
import { ContractViolation } from "../../core/errors/errors.js";

export { PARAMETER_BYTES } from "../../core/declare/planned_task.js";

export const PAGE_TASKS = 5000;
export const PAGE_BYTES = 4 * 1024 * 1024;
export class PlanPages {
  /** Tasks so far; the next one's ordinal. */
  total = 0;
  /** The bytes of the largest parameters, by which claims are bounded. */
  task_bytes = 0;
  private from = 0;
  private page: string[] = [];
  private bytes = 0;
  private sent_any = false;
  private readonly indexes = new Set<string>();

  /** `send` gets the ordinal of the first task and a JSON array. */
  constructor(
    private readonly stage: string,
    private readonly send: (from: number, tasks: string) => Promise<void>,
  ) {}

  /** Throws what is wrong with the task; a promise when a page is full and should be awaited. */
  add(task: unknown): Promise<void> | null {
    const text = this.checked(task);
    this.page.push(text);
    this.bytes += text.length;
    this.total++;
    return this.page.length >= PAGE_TASKS || this.bytes >= PAGE_BYTES ? this.flush() : null;
  }

  /** The first page is sent even when it is empty: it wipes what a planner that died may have left. */
  async flush(): Promise<void> {
    if (this.page.length === 0 && this.sent_any) return;
    const { from, page } = this;
    this.from = this.total;
    this.page = [];
    this.bytes = 0;
    this.sent_any = true;
    await this.send(from, `[${page.join()}]`);
  }

  private checked(task: unknown): string {
    const { problems, text, bytes } = checkedTask(task);
    const index = (task as { index?: unknown } | null)?.index;
    const name = typeof index === "string" ? index : String(this.total);
    if (this.indexes.has(name)) {
      const problem = "is the index of another task of this stage";
      problems.push({ path: "$.index", problem, fix: "Indexes are unique." });
    }
    this.indexes.add(name);
    if (problems.length > 0) {
      throw new ContractViolation(`Task "${name}" of stage "${this.stage}" cannot be planned`, { problems });
    }
    this.task_bytes = Math.max(this.task_bytes, bytes);
    return text;
  }
}
