// Fields that hold others: objects, lists, tuples, named values, and one of several kinds.
import { type ReactNode, useState } from "react";
import { Button, Safe } from "../ui/index.js";
import { chosenAlternative, starterOf } from "./choices.js";
import { FieldOf } from "./field.js";
import { type FieldProps, Help, RemoveButton } from "./scalar_fields.js";
import { readSchema, type Schema } from "./schema.js";
import { useForm, useProblem } from "./state.js";
import { isRecord, sameValue, shortText, type Value, writeValue } from "./values.js";

/** A frame around fields that belong together, with a way to leave the whole out. */
function Group({
  label,
  help,
  problem,
  actions,
  children,
  is_open,
}: {
  label: ReactNode;
  help: ReactNode;
  problem: string | null;
  actions?: ReactNode;
  children?: ReactNode;
  is_open: boolean;
}) {
  return (
    <fieldset className="form-group" data-open={is_open} aria-invalid={problem === null ? undefined : true}>
      <legend>{label}</legend>
      <div className="form-group-head">
        <div className="help grow">{help}</div>
        {actions !== undefined && <div className="row">{actions}</div>}
      </div>
      {problem !== null && <div className="problem">{problem}</div>}
      {children}
    </fieldset>
  );
}

function small(text: string, onClick: () => void) {
  return (
    <Button className="small-button" onClick={onClick}>
      {text}
    </Button>
  );
}

export function ObjectField({ read, path, label, required, value, depth, onRemove, bare }: FieldProps<"object">) {
  const { set, root } = useForm();
  const problem = useProblem(path);
  const given = isRecord(value);
  const whole = path.length === 0 || bare === true;
  const begin = () => set(path, starterOf({ type: "object", ...propertiesOf(read.shape) }, root) ?? {});
  const known = new Set(read.shape.properties.map(({ name }) => name));
  const others = given ? Object.keys(value).filter((name) => !known.has(name)) : [];
  // What was chosen with the kind need not be shown again.
  const shown = read.shape.properties.filter(({ name, schema }) => {
    const { shape } = readSchema(schema, root);
    return !(bare === true && given && shape.kind === "const" && sameValue(value[name], shape.value));
  });
  const fields = (
    <div className="form-fields">
      {shown.map(({ name, required: needed, schema }) => (
        <FieldOf
          key={name}
          schema={schema}
          path={[...path, name]}
          label={<Name text={name} required={needed} />}
          required={needed}
          value={given && Object.hasOwn(value, name) ? value[name] : undefined}
          depth={depth + 1}
        />
      ))}
      {others.map((name) => (
        <FieldOf
          key={name}
          schema={read.shape.others ?? {}}
          path={[...path, name]}
          label={<Name text={name} required={false} />}
          required={false}
          value={given ? value[name] : undefined}
          depth={depth + 1}
          onRemove={() => set([...path, name], undefined)}
        />
      ))}
    </div>
  );
  // A field that must be there, or the whole: no frame to open, its fields are simply there.
  if (whole) return fields;
  const open = given || (required && value === undefined);
  const actions = open ? (
    <>
      {given && !required && small("Leave out", () => set(path, undefined))}
      {onRemove !== undefined && <RemoveButton onRemove={onRemove} />}
    </>
  ) : (
    small("Give it", begin)
  );
  return (
    <Group
      label={label}
      help={<Help read={read} extra={[open ? null : value === null ? "null" : "not given"]} />}
      problem={problem}
      actions={actions}
      is_open={open}
    >
      {open && fields}
    </Group>
  );
}

function propertiesOf(shape: FieldProps<"object">["read"]["shape"]): object {
  return {
    properties: Object.fromEntries(shape.properties.map(({ name, schema }) => [name, schema])),
    required: shape.properties.filter(({ required }) => required).map(({ name }) => name),
  };
}

export function ListField({ read, path, label, required, value, depth, onRemove }: FieldProps<"list">) {
  const { set, touch, root } = useForm();
  const problem = useProblem(path);
  const list = Array.isArray(value) ? value : [];
  const { shape } = read;
  const item = readSchema(shape.item, root);
  const bounds = [
    shape.least !== null && shape.least > 0 ? `at least ${shape.least}` : null,
    shape.most !== null ? `at most ${shape.most}` : null,
    shape.unique ? "each once" : null,
  ];
  const full = shape.most !== null && list.length >= shape.most;
  if (item.shape.kind === "enum" && shape.unique && item.shape.values.length <= MOST_BOXES) {
    return <BoxesField values={item.shape.values} {...{ read, path, label, required, value, depth, onRemove }} />;
  }
  const change = (next: Value[]) => {
    touch(path);
    set(path, next);
  };
  return (
    <Group
      label={label}
      help={
        <Help read={read} extra={[...bounds, value === undefined ? "not given" : value === null ? "null" : null]} />
      }
      problem={problem}
      is_open={list.length > 0}
      actions={
        <>
          {value !== undefined && !required && small("Leave out", () => set(path, undefined))}
          {value === undefined && !required && small("Empty list", () => set(path, []))}
          {onRemove !== undefined && <RemoveButton onRemove={onRemove} />}
        </>
      }
    >
      <div
        className="form-list"
        // Many lines pasted into a list of words are as many entries.
        onPaste={(event) => {
          const lines = event.clipboardData
            .getData("text")
            .split(/\r?\n/)
            .filter((line) => line.trim() !== "");
          const at = Number((event.target as HTMLElement).closest("[data-entry]")?.getAttribute("data-entry"));
          if (item.shape.kind !== "text" || lines.length < 2 || !Number.isInteger(at)) return;
          event.preventDefault();
          change([...list.slice(0, at), ...lines, ...list.slice(at + 1)]);
        }}
      >
        {list.slice(0, MOST_ENTRIES).map((one, at) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: an entry is known by its place, as in the value
          <div key={at} data-entry={at}>
            <FieldOf
              schema={shape.item}
              path={[...path, at]}
              label={<span className="form-place">{at + 1}</span>}
              required
              value={one}
              depth={depth + 1}
              onRemove={() => change(list.filter((_, other) => other !== at))}
            />
          </div>
        ))}
        {list.length > MOST_ENTRIES && (
          <p className="muted">{list.length - MOST_ENTRIES} more entries: see them as JSON.</p>
        )}
      </div>
      <div className="row">
        <Button
          className="small-button"
          forbidden={full ? `It has ${shape.most} already.` : null}
          onClick={() => change([...list, starterOf(shape.item, root)])}
        >
          Add
        </Button>
      </div>
    </Group>
  );
}

const MOST_ENTRIES = 200;
const MOST_BOXES = 12;

/** Any of a few words, each once: boxes to tick. */
function BoxesField({ values, read, path, label, required, value }: FieldProps<"list"> & { values: readonly Value[] }) {
  const { set, touch } = useForm();
  const problem = useProblem(path);
  const list = Array.isArray(value) ? value : [];
  const has = (one: Value) => list.some((other) => sameValue(one, other));
  return (
    <Group
      label={label}
      help={<Help read={read} />}
      problem={problem}
      is_open
      actions={value !== undefined && !required && small("Leave out", () => set(path, undefined))}
    >
      <div className="form-boxes">
        {values.map((one) => (
          <label key={shortText(one)}>
            <input
              type="checkbox"
              checked={has(one)}
              onChange={({ target }) => {
                touch(path);
                set(
                  path,
                  values.filter((other) => (sameValue(one, other) ? target.checked : has(other))),
                );
              }}
            />{" "}
            <Safe text={shortText(one)} />
          </label>
        ))}
      </div>
    </Group>
  );
}

export function TupleField({ read, path, label, required, value, depth, onRemove }: FieldProps<"tuple">) {
  const { set, root } = useForm();
  const problem = useProblem(path);
  const list = Array.isArray(value) ? value : null;
  const { items, rest } = read.shape;
  const scalars = items.every((item) =>
    ["number", "text", "enum", "boolean"].includes(readSchema(item, root).shape.kind),
  );
  const open = list !== null || (required && value === undefined);
  const extra = list === null || rest === null ? [] : list.slice(items.length);
  const remove = (at: number) =>
    set(
      path,
      (list ?? []).filter((_, other) => other !== at),
    );
  return (
    <Group
      label={label}
      help={<Help read={read} extra={[`${items.length} values`, open ? null : "not given"]} />}
      problem={problem}
      is_open={open}
      actions={
        open ? (
          <>
            {list !== null && !required && small("Leave out", () => set(path, undefined))}
            {onRemove !== undefined && <RemoveButton onRemove={onRemove} />}
          </>
        ) : (
          small("Give it", () =>
            set(
              path,
              items.map((item) => starterOf(item, root)),
            ),
          )
        )
      }
    >
      {open && (
        <div className={scalars ? "form-tuple" : "form-list"}>
          {items.map((item, at) => (
            <FieldOf
              // biome-ignore lint/suspicious/noArrayIndexKey: an entry is known by its place
              key={at}
              schema={item}
              path={[...path, at]}
              label={<Safe text={readSchema(item, root).title ?? placeName(items, root, at)} />}
              required
              value={list?.[at]}
              depth={depth + 1}
            />
          ))}
          {extra.map((one, at) => (
            <FieldOf
              // biome-ignore lint/suspicious/noArrayIndexKey: an entry is known by its place
              key={items.length + at}
              schema={rest}
              path={[...path, items.length + at]}
              label={String(items.length + at + 1)}
              required
              value={one}
              depth={depth + 1}
              onRemove={() => remove(items.length + at)}
            />
          ))}
        </div>
      )}
      {open && rest !== null && (
        <div className="row">
          {small("Add", () => set(path, [...(list ?? items.map(() => undefined)), starterOf(rest, root)]))}
        </div>
      )}
    </Group>
  );
}

/** Four numbers are nearly always the sides of a box. */
function placeName(items: readonly Schema[], root: Schema, at: number): string {
  const numbers = items.every((item) => readSchema(item, root).shape.kind === "number");
  return numbers && items.length === 4
    ? (["1 (west)", "2 (south)", "3 (east)", "4 (north)"][at] as string)
    : String(at + 1);
}

export function RecordField({ read, path, label, required, value, depth, onRemove }: FieldProps<"record">) {
  const { set, root } = useForm();
  const problem = useProblem(path);
  const record = isRecord(value) ? value : {};
  // Names are typed letter by letter, and two may be the same on the way: the list is kept here, and the value made of it.
  const [pairs, setPairs] = useState<[string, Value][]>(() => Object.entries(record));
  const shown =
    writeValue(Object.fromEntries(pairs.filter(([name]) => name !== ""))) === writeValue(record)
      ? pairs
      : Object.entries(record);
  const change = (next: [string, Value][]) => {
    setPairs(next);
    set(path, Object.fromEntries(next.filter(([name]) => name !== "")));
  };
  return (
    <Group
      label={label}
      help={<Help read={read} extra={["names and values", value === undefined ? "not given" : null]} />}
      problem={problem}
      is_open={shown.length > 0}
      actions={
        <>
          {value !== undefined &&
            !required &&
            small("Leave out", () => {
              setPairs([]);
              set(path, undefined);
            })}
          {onRemove !== undefined && <RemoveButton onRemove={onRemove} />}
        </>
      }
    >
      <div className="form-list">
        {shown.slice(0, MOST_ENTRIES).map(([name, one], at) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: its name is what is being typed
          <div key={at} className="form-pair">
            <label className="field">
              <span className="form-place">name</span>
              <input
                type="text"
                autoComplete="off"
                spellCheck={false}
                value={name}
                aria-invalid={shown.some(([other], place) => other === name && place !== at) || undefined}
                onChange={({ target }) =>
                  change(shown.map((pair, place) => (place === at ? [target.value, pair[1]] : pair)))
                }
              />
            </label>
            {name === "" ? (
              <span className="muted">Name it first.</span>
            ) : (
              <FieldOf
                schema={read.shape.item}
                path={[...path, name]}
                label="value"
                required
                value={one}
                depth={depth + 1}
              />
            )}
            <RemoveButton onRemove={() => change(shown.filter((_, place) => place !== at))} />
          </div>
        ))}
      </div>
      <div className="row">
        {small("Add", () => setPairs([...shown, ["", starterOf(read.shape.item, root) ?? ""]]))}
      </div>
    </Group>
  );
}

export function ChoiceField({ read, path, label, required, value, depth, onRemove }: FieldProps<"choice">) {
  const { set, root } = useForm();
  const problem = useProblem(path);
  const { alternatives } = read.shape;
  const found = chosenAlternative(alternatives, value, root);
  // What was chosen, for as long as nothing is given that would tell.
  const [asked, setAsked] = useState<number | null>(null);
  const at = value === undefined || value === null ? asked : found;
  const chosen = at === null ? undefined : alternatives[at];
  const none = read.default !== undefined ? "default" : required ? "choose…" : "not given";
  return (
    <Group
      label={label}
      help={<Help read={read} />}
      problem={problem}
      is_open={chosen !== undefined}
      actions={
        <>
          <select
            className="text-input form-kind"
            aria-label="Which kind"
            value={at === null ? (value === null ? "null" : "") : at}
            onChange={({ target }) => {
              const next = target.value === "" || target.value === "null" ? null : Number(target.value);
              setAsked(next);
              set(
                path,
                next === null
                  ? target.value === "null"
                    ? null
                    : undefined
                  : starterOf(alternatives[next]?.schema, root),
              );
            }}
          >
            <option value="">{none}</option>
            {alternatives.map(({ label: word }, place) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: alternatives have no name of their own
              <option key={place} value={place}>
                {word}
              </option>
            ))}
            {read.nullable && <option value="null">null</option>}
          </select>
          {onRemove !== undefined && <RemoveButton onRemove={onRemove} />}
        </>
      }
    >
      {chosen !== undefined && (
        <FieldOf
          schema={chosen.schema}
          path={path}
          label={<Safe text={chosen.label} />}
          required
          value={value}
          depth={depth + 1}
          bare
        />
      )}
    </Group>
  );
}

export function Name({ text, required }: { text: string; required: boolean }) {
  return (
    <>
      <span className="mono">
        <Safe text={text} limit={80} />
      </span>
      {required && <span className="form-required"> required</span>}
    </>
  );
}
