// What callers were told, written down by themselves as they were told it: a truth of their own, against which the house's answers are
// held in the end. A call that was not answered is repeated, as a client would; only what was answered counts.
import { appendFileSync, readdirSync, readFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

export interface Promised {
  job_id: string;
  name: string;
  n: number;
}

export interface Answer {
  status: number;
  ms: number;
  // biome-ignore lint/suspicious/noExplicitAny: what came is looked at by whoever asked
  body: any;
}

/** Longer than any call may take: whoever reaches it was left hanging. */
export const patience_ms = 30_000;

export async function call(url: string, key: string, method: string, body?: unknown): Promise<Answer> {
  const began = performance.now();
  const headers = {
    authorization: `Bearer ${key}`,
    ...(body === undefined ? {} : { "content-type": "application/json" }),
  };
  const init = { method, headers, signal: AbortSignal.timeout(patience_ms) };
  const response = await fetch(url, body === undefined ? init : { ...init, body: JSON.stringify(body) });
  const text = await response.text();
  return { status: response.status, ms: performance.now() - began, body: text === "" ? null : JSON.parse(text) };
}

export class Truth {
  readonly promised: Promised[] = [];
  /** Ids of jobs that the receiver of webhooks heard of. */
  readonly told = new Set<string>();
  /** Calls that were neither answered nor refused within the patience. */
  readonly hung: string[] = [];
  /** Answers of 500 and more that are not "not now". */
  readonly broken: string[] = [];
  slowest_ms = 0;
  answered = 0;
  private readonly file: string;

  constructor(private readonly dir: string) {
    this.file = join(dir, "truth.jsonl");
  }

  /** Submits until it is answered: the same words are the same job. */
  async submit(url: string, key: string, name: string, n: number, ms: number, over: () => boolean): Promise<void> {
    while (!over()) {
      const answer = await this.ask(() =>
        call(`${url}/api/jobs/submit/ledger`, key, "POST", { parameters: { name, n, ms } }),
      );
      if (answer !== null && (answer.status === 200 || answer.status === 201)) {
        const promised = { job_id: answer.body.job_id as string, name, n };
        this.promised.push(promised);
        appendFileSync(this.file, `${JSON.stringify(promised)}\n`);
        return;
      }
      await sleep(300);
    }
  }

  /** Null: the connection was refused or cut, which is an answer as well. */
  async ask(asking: () => Promise<Answer>): Promise<Answer | null> {
    try {
      const answer = await asking();
      this.answered++;
      this.slowest_ms = Math.max(this.slowest_ms, answer.ms);
      if (answer.status >= 500 && answer.status !== 503)
        this.broken.push(`${answer.status} ${JSON.stringify(answer.body)}`);
      return answer;
    } catch (error) {
      if ((error as Error).name === "TimeoutError") this.hung.push(new Date().toISOString());
      return null;
    }
  }

  /** Every run of every item that the handlers wrote down, by `name i`. */
  effects(): Map<string, number> {
    const seen = new Map<string, number>();
    for (const file of readdirSync(this.dir).filter((entry) => entry.startsWith("effects-"))) {
      for (const line of readFileSync(join(this.dir, file), "utf8").split("\n").slice(0, -1))
        seen.set(line, (seen.get(line) ?? 0) + 1);
    }
    return seen;
  }

  /** Hears how jobs ended; every fourth call it is not well. */
  async receiver(): Promise<{ port: number; server: Server }> {
    let calls = 0;
    const server = createServer((request, response) => {
      let body = "";
      request.on("data", (bytes) => (body += bytes));
      request.on("end", () => {
        if (++calls % 4 === 0) {
          response.writeHead(500).end();
          return;
        }
        this.told.add(JSON.parse(body).job_id as string);
        response.writeHead(204).end();
      });
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    return { port: (server.address() as AddressInfo).port, server };
  }
}
