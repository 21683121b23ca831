// The text format of Prometheus (version 0.0.4): families of samples, each with its HELP and TYPE, written once. Pure.

export type MetricType = "counter" | "gauge" | "histogram";
export type Labels = Record<string, string>;

/** One metric with all its samples. */
export class Family {
  readonly #lines: string[] = [];

  constructor(
    readonly name: string,
    readonly type: MetricType,
    readonly help: string,
  ) {}

  sample(value: number, labels: Labels = {}): this {
    this.#lines.push(`${this.name}${labelText(labels)} ${valueText(value)}`);
    return this;
  }

  /** `counts` has one for each bound and one more, not cumulative. */
  histogram(bounds: readonly number[], counts: readonly number[], sum: number, labels: Labels = {}): this {
    let below = 0;
    counts.forEach((count, at) => {
      below += count;
      const le = at < bounds.length ? valueText(bounds[at]!) : "+Inf";
      this.#lines.push(`${this.name}_bucket${labelText({ ...labels, le })} ${valueText(below)}`);
    });
    this.#lines.push(`${this.name}_sum${labelText(labels)} ${valueText(sum)}`);
    this.#lines.push(`${this.name}_count${labelText(labels)} ${valueText(below)}`);
    return this;
  }

  /** A family without samples says nothing. */
  get text(): string {
    if (this.#lines.length === 0) return "";
    const help = this.help.replaceAll("\\", "\\\\").replaceAll("\n", "\\n");
    return `# HELP ${this.name} ${help}\n# TYPE ${this.name} ${this.type}\n${this.#lines.join("\n")}\n`;
  }
}

export function exposition(families: readonly Family[]): string {
  return families.map(({ text }) => text).join("");
}

function labelText(labels: Labels): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${escaped(value)}"`);
  return pairs.length === 0 ? "" : `{${pairs.join()}}`;
}

function escaped(value: string): string {
  return value.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n");
}

function valueText(value: number): string {
  if (value === Number.POSITIVE_INFINITY) return "+Inf";
  if (value === Number.NEGATIVE_INFINITY) return "-Inf";
  return String(value);
}
