// Fields for lists: of any length, of a few words to tick, and of so many places.
import { Button, Safe } from "../ui/index.js";
import { starterOf } from "./choices.js";
import { FieldOf } from "./field.js";
import { Group, most_entries, small } from "./group_fields.js";
import { type FieldProps, Help, RemoveButton } from "./scalar_fields.js";
import { readSchema, type Schema } from "./schema.js";
import { useForm, useProblem } from "./state.js";
import { sameValue, shortText, type Value } from "./values.js";

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
    return (
      <BoxesField
        values={item.shape.values}
        read={read}
        path={path}
        label={label}
        required={required}
        value={value}
        depth={depth}
        onRemove={onRemove}
      />
    );
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
        {list.slice(0, most_entries).map((one, at) => (
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
        {list.length > most_entries && (
          <p className="muted">{list.length - most_entries} more entries: see them as JSON.</p>
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
