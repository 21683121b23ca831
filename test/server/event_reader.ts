// Reads a stream of server-sent events as a browser would, and gives what came, as it comes.
import { onTestFinished } from "vitest";

export interface Heard {
  id: string;
  event: string;
  // biome-ignore lint/suspicious/noExplicitAny: a test looks into whatever came
  data: any;
}

export interface EventReader {
  status: number;
  heard: Heard[];
  /** All that was read, comments too. */
  text(): string;
  /** Resolves with the first that fits, heard already or to come. */
  until(fits: (one: Heard) => boolean): Promise<Heard>;
  closed: Promise<void>;
  close(): void;
}

export async function readEvents(
  url: string,
  { key, headers = {} }: { key: string | null; headers?: Record<string, string> },
): Promise<EventReader> {
  const abort = new AbortController();
  const response = await fetch(url, {
    headers: { ...(key === null ? {} : { authorization: `Bearer ${key}` }), ...headers },
    signal: abort.signal,
  });
  const heard: Heard[] = [];
  const looks = new Set<() => void>();
  let text = "";
  let rest = "";
  let over = false;
  const closed = (async () => {
    try {
      for await (const piece of response.body!.pipeThrough(new TextDecoderStream())) {
        text += piece;
        rest += piece;
        const blocks = rest.split("\n\n");
        rest = blocks.pop() ?? "";
        for (const block of blocks) take(block);
        for (const look of looks) look();
      }
    } catch {
      // Cut off, by the test or by the server.
    }
    over = true;
    for (const look of looks) look();
  })();
  function take(block: string): void {
    const lines = block.split("\n").map((line) => /^(\w*): ?(.*)$/.exec(line));
    const field = (name: string) => lines.find((line) => line?.[1] === name)?.[2];
    const data = field("data");
    if (data !== undefined)
      heard.push({ id: field("id") ?? "", event: field("event") ?? "message", data: JSON.parse(data) });
  }
  const close = () => abort.abort();
  onTestFinished(close);
  return {
    status: response.status,
    heard,
    text: () => text,
    closed,
    close,
    until: (fits) =>
      new Promise((resolve, reject) => {
        const look = () => {
          const found = heard.find(fits);
          if (found === undefined && !over) return;
          looks.delete(look);
          if (found !== undefined) resolve(found);
          else reject(new Error(`the stream ended before it came:\n${text}`));
        };
        looks.add(look);
        look();
      }),
  };
}
