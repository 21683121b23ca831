// A form made of a schema, and the same value as JSON beside it: whichever is changed, the other follows.
import { type ReactNode, useMemo, useState } from "react";
import { jsonPath, type Problem } from "../../../src/core/errors/problems.js";
import { Safe } from "../ui/index.js";
import { checkValue } from "./checks.js";
import { FieldOf } from "./field.js";
import "./form.css";
import { readSchema, type Schema } from "./schema.js";
import { byPath, FormContext, type FormState } from "./state.js";
import { isRecord, readValue, type Value, withValueAt, writeValue } from "./values.js";

interface SchemaFormProps {
  schema: Schema;
  value: Value;
  onChange(value: Value): void;
  /** What the server found, until the value changes. */
  told: readonly Problem[];
  /** Everything that is wrong is shown, also where nobody was yet. */
  show_all: boolean;
  label: string;
}

type Side = "form" | "json";

export function SchemaForm({ schema, value, onChange, told, show_all, label }: SchemaFormProps) {
  const [side, setSide] = useState<Side>("form");
  const [touched, setTouched] = useState<ReadonlySet<string>>(new Set());
  const own = useMemo(() => checkValue(schema ?? {}, value, schema ?? {}), [schema, value]);
  const shown = own.filter(({ path, problem }) => show_all || problem !== "is missing" || touched.has(path));
  const places = new Set(told.map(({ path }) => path));
  const problems = byPath([...told, ...shown.filter(({ path }) => !places.has(path))]);
  const form: FormState = {
    root: schema ?? {},
    problems,
    set(path, given) {
      onChange(withValueAt(value, path, given) ?? {});
    },
    touch(path) {
      const text = jsonPath(path);
      if (!touched.has(text)) setTouched(new Set([...touched, text]));
    },
  };
  return (
    <FormContext value={form}>
      <div className="form-sides">
        {(["form", "json"] as const).map((one) => (
          <button
            key={one}
            type="button"
            className={one === side ? "tab current" : "tab"}
            aria-pressed={one === side}
            onClick={() => setSide(one)}
          >
            {one === "form" ? "Form" : "JSON"}
          </button>
        ))}
        <span className="muted small ends">{countText(own.length, shown.length)}</span>
      </div>
      {side === "form" ? (
        <FormSide schema={schema} value={value} />
      ) : (
        <JsonSide value={value} onChange={onChange} problems={[...problems.values()].flat()} label={label} />
      )}
    </FormContext>
  );
}

function countText(all: number, shown: number): string {
  if (all === 0) return "nothing is missing";
  return shown === 0 ? `${all} to fill in` : `${all} ${all === 1 ? "problem" : "problems"}`;
}

function FormSide({ schema, value }: { schema: Schema; value: Value }) {
  const { shape } = readSchema(schema ?? {}, schema ?? {});
  if (shape.kind === "object" && shape.properties.length === 0) {
    return <p className="muted">It takes no parameters.</p>;
  }
  return <FieldOf schema={schema ?? {}} path={[]} label="Parameters" required value={value} depth={0} />;
}

interface JsonSideProps {
  value: Value;
  onChange(value: Value): void;
  problems: readonly Problem[];
  label: string;
}

function JsonSide({ value, onChange, problems, label }: JsonSideProps) {
  const written = writeValue(value, 2);
  const [typed, setTyped] = useState(written);
  const wrong = useMemo(() => wrongWith(typed), [typed]);
  // Text that is no JSON yet stays as it is typed; a change made elsewhere replaces it.
  const same = wrong !== null || writeValue(readValue(typed)) === writeValue(value);
  const text = same ? typed : written;
  return (
    <div className="field">
      <textarea
        className="mono form-json"
        aria-label={`${label} as JSON`}
        aria-invalid={wrong !== null || undefined}
        spellCheck={false}
        rows={Math.min(30, Math.max(8, text.split("\n").length + 1))}
        value={text}
        onChange={({ target }) => {
          setTyped(target.value);
          if (wrongWith(target.value) === null) onChange(readValue(target.value));
        }}
      />
      {wrong !== null && (
        <div className="problem" role="alert">
          <Safe text={wrong} /> The form keeps the last JSON that could be read.
        </div>
      )}
      {wrong === null && problems.length > 0 && (
        <ul className="problem">
          {problems.map(
            ({ path, problem, fix }): ReactNode => (
              <li key={`${path} ${problem}`}>
                <code>{path}</code> <Safe text={`${problem}${fix === "" ? "" : `. ${fix}`}`} />
              </li>
            ),
          )}
        </ul>
      )}
    </div>
  );
}

function wrongWith(text: string): string | null {
  try {
    return isRecord(readValue(text)) ? null : "Parameters are an object: { … }.";
  } catch (error) {
    return `${error instanceof Error ? error.message : "This is not JSON"}.`;
  }
}
