// Fields for one word, number, yes or no.
import { type ReactNode, useState } from "react";
import { Field, IconButton, Safe } from "../ui/index.js";
import { boundText } from "./checks.js";
import type { Read, Shape } from "./schema.js";
import { useForm, useProblem } from "./state.js";
import {
  isLosslessNumber,
  type Path,
  readNumber,
  readValue,
  shortText,
  Unfinished,
  type Value,
  writeValue,
} from "./values.js";

export interface FieldProps<Kind extends Shape["kind"] = Shape["kind"]> {
  read: Read & { shape: Extract<Shape, { kind: Kind }> };
  path: Path;
  label: ReactNode;
  required: boolean;
  value: Value;
  depth: number;
  /** Takes this entry out of its list. */
  onRemove?: (() => void) | undefined;
  /** Inside a frame that names it already. */
  bare?: boolean | undefined;
}

/** What is known of a field besides its name: what it is for, its bounds, its default and an example. */
export function Help({ read, extra = [] }: { read: Read; extra?: readonly (string | null)[] }) {
  const facts = [
    ...extra,
    read.default === undefined ? null : `default ${shortText(read.default)}`,
    read.examples.length === 0 ? null : `for example ${read.examples.map((one) => shortText(one)).join(", ")}`,
    read.deprecated ? "no longer used" : null,
  ].filter((fact): fact is string => fact !== null && fact !== "");
  if (read.description === null && facts.length === 0) return null;
  return (
    <>
      {read.description !== null && <Safe text={read.description} limit={2_000} />}
      {facts.length > 0 && (
        <span className="form-facts">
          <Safe text={facts.join(" · ")} />
        </span>
      )}
    </>
  );
}

function Around({ path, read, value, children }: { path: Path; read: Read; value: Value; children: ReactNode }) {
  const { set } = useForm();
  return (
    <div className="form-line">
      {children}
      {read.nullable && (
        <label className="form-null">
          <input
            type="checkbox"
            checked={value === null}
            onChange={({ target }) => set(path, target.checked ? null : undefined)}
          />
          null
        </label>
      )}
    </div>
  );
}

export function TextField({ read, path, label, value, onRemove }: FieldProps<"text">) {
  const { set, touch } = useForm();
  const problem = useProblem(path);
  const { shape } = read;
  const bounds = [
    shape.least !== null && shape.least > 1 ? `at least ${shape.least} characters` : null,
    shape.most !== null && shape.most < 100_000 ? `at most ${shape.most} characters` : null,
    shape.format === null || shape.format === "regex" ? null : shape.format,
  ];
  const text = typeof value === "string" ? value : value === undefined || value === null ? "" : writeValue(value);
  const change = (given: string) => set(path, given === "" ? undefined : given);
  return (
    <Field label={label} help={<Help read={read} extra={bounds} />} problem={problem}>
      {(ids) => (
        <Around path={path} read={read} value={value}>
          {text.includes("\n") || text.length > 160 ? (
            <textarea
              {...ids}
              rows={Math.min(8, text.split("\n").length + 1)}
              spellCheck={false}
              value={text}
              onChange={({ target }) => change(target.value)}
              onBlur={() => touch(path)}
            />
          ) : (
            <input
              {...ids}
              type={shape.format === "date" ? "date" : "text"}
              autoComplete="off"
              spellCheck={false}
              value={text}
              placeholder={value === null ? "null" : value === "" ? "empty text" : placeholderOf(read)}
              onChange={({ target }) => change(target.value)}
              onBlur={() => touch(path)}
            />
          )}
          {shape.format === "date-time" && (
            <IconButton label="Now" onClick={() => set(path, new Date().toISOString())}>
              now
            </IconButton>
          )}
          {onRemove !== undefined && <RemoveButton onRemove={onRemove} />}
        </Around>
      )}
    </Field>
  );
}

function placeholderOf(read: Read): string {
  if (read.default !== undefined) return shortText(read.default);
  const { shape } = read;
  if (shape.kind === "text" && shape.format === "date-time") return "2030-01-31T12:00:00Z";
  return "";
}

export function NumberField({ read, path, label, value, onRemove }: FieldProps<"number">) {
  const { set, touch } = useForm();
  const problem = useProblem(path);
  const { shape } = read;
  const bounds = [
    shape.whole ? "whole number" : null,
    shape.minimum === null ? null : boundText(shape.minimum, "at least", "more than"),
    shape.maximum === null ? null : boundText(shape.maximum, "at most", "less than"),
    shape.step === null || shape.step === 1 ? null : `a multiple of ${shape.step}`,
  ];
  const shown =
    value instanceof Unfinished ? value.text : value === undefined || value === null ? "" : shortText(value, 1000);
  // What was typed last, so that "1." or " 7" is not taken out of one's hands.
  const [typed, setTyped] = useState(shown);
  return (
    <Field label={label} help={<Help read={read} extra={bounds} />} problem={problem}>
      {(ids) => (
        <Around path={path} read={read} value={value}>
          <input
            {...ids}
            type="text"
            inputMode={shape.whole ? "numeric" : "decimal"}
            autoComplete="off"
            value={sameNumber(readNumber(typed), value) ? typed : shown}
            placeholder={value === null ? "null" : placeholderOf(read)}
            onChange={({ target }) => {
              setTyped(target.value);
              set(path, readNumber(target.value));
            }}
            onBlur={() => touch(path)}
          />
          {onRemove !== undefined && <RemoveButton onRemove={onRemove} />}
        </Around>
      )}
    </Field>
  );
}

function sameNumber(a: Value, b: Value): boolean {
  if (a instanceof Unfinished) return b instanceof Unfinished && a.text === b.text;
  if (isLosslessNumber(a)) return isLosslessNumber(b) && String(a) === String(b);
  return a === b;
}

/** A choice of a few values; what the server takes when nothing is chosen is the first. */
export function ChoiceOfValues({
  read,
  path,
  label,
  required,
  value,
  values,
  onRemove,
}: Omit<FieldProps, "depth"> & { values: readonly Value[] }) {
  const { set, touch } = useForm();
  const problem = useProblem(path);
  const keys = values.map((one) => writeValue(one));
  const now = value === undefined ? "" : writeValue(value);
  const known = now === "" || keys.includes(now) || (value === null && read.nullable);
  const none = read.default !== undefined ? `default: ${shortText(read.default)}` : required ? "choose…" : "not given";
  return (
    <Field label={label} help={<Help read={{ ...read, default: undefined }} />} problem={problem}>
      {(ids) => (
        <div className="form-line">
          <select
            {...ids}
            value={now}
            onChange={({ target }) => set(path, target.value === "" ? undefined : readValue(target.value))}
            onBlur={() => touch(path)}
          >
            <option value="">{none}</option>
            {values.map((one, at) => (
              <option key={keys[at]} value={keys[at]}>
                {shortText(one)}
              </option>
            ))}
            {read.nullable && <option value="null">null</option>}
            {!known && <option value={now}>{shortText(value)}</option>}
          </select>
          {onRemove !== undefined && <RemoveButton onRemove={onRemove} />}
        </div>
      )}
    </Field>
  );
}

export function ConstField({ read, path, label, value }: FieldProps<"const">) {
  const { set } = useForm();
  const problem = useProblem(path);
  const fixed = shortText(read.shape.value);
  return (
    <Field label={label} help={<Help read={read} />} problem={problem}>
      {(ids) => (
        <div className="form-line">
          <input
            {...ids}
            type="text"
            readOnly
            value={value === undefined ? "" : shortText(value)}
            placeholder={fixed}
          />
          {writeValue(value) !== writeValue(read.shape.value) && (
            <button type="button" className="button plain small-button" onClick={() => set(path, read.shape.value)}>
              Set to {fixed}
            </button>
          )}
        </div>
      )}
    </Field>
  );
}

/** Anything, as JSON. */
export function JsonField({ read, path, label, value, onRemove }: FieldProps) {
  const { set, touch } = useForm();
  const problem = useProblem(path);
  const why = read.shape.kind === "json" && read.shape.why !== null ? `as JSON: ${read.shape.why}` : "as JSON";
  const shown = value instanceof Unfinished ? value.text : value === undefined ? "" : writeValue(value, 2);
  const [typed, setTyped] = useState(shown);
  const text = sameJson(typed, value) ? typed : shown;
  return (
    <Field label={label} help={<Help read={read} extra={[why]} />} problem={problem}>
      {(ids) => (
        <div className="form-line">
          <textarea
            {...ids}
            className="mono"
            rows={Math.min(10, Math.max(1, text.split("\n").length))}
            spellCheck={false}
            value={text}
            placeholder={read.default === undefined ? "" : shortText(read.default)}
            onChange={({ target }) => {
              setTyped(target.value);
              set(path, fromText(target.value));
            }}
            onBlur={() => touch(path)}
          />
          {onRemove !== undefined && <RemoveButton onRemove={onRemove} />}
        </div>
      )}
    </Field>
  );
}

function fromText(text: string): Value {
  if (text.trim() === "") return undefined;
  try {
    return readValue(text);
  } catch {
    return new Unfinished(text);
  }
}

function sameJson(text: string, value: Value): boolean {
  const read = fromText(text);
  if (read instanceof Unfinished || value instanceof Unfinished) {
    return read instanceof Unfinished && value instanceof Unfinished && read.text === value.text;
  }
  return read === value || (read !== undefined && value !== undefined && writeValue(read) === writeValue(value));
}

export function RemoveButton({ onRemove, label = "Remove" }: { onRemove(): void; label?: string }) {
  return (
    <IconButton label={label} onClick={onRemove}>
      ✕
    </IconButton>
  );
}
