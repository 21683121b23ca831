// Fields that hold others: objects, lists, tuples, named values, and one of several kinds.
import { type ReactNode, useState } from "react";
import { Button, Safe } from "../ui/index.js";
import { chosenAlternative, starterOf } from "./choices.js";
import { FieldOf } from "./field.js";
import { type FieldProps, Help, RemoveButton } from "./scalar_fields.js";
import { readSchema } from "./schema.js";
import { useForm, useProblem } from "./state.js";
import { isRecord, sameValue, type Value, writeValue } from "./values.js";

interface GroupProps {
  label: ReactNode;
  help: ReactNode;
  problem: string | null;
  actions?: ReactNode;
  children?: ReactNode;
  is_open: boolean;
}

/** A frame around fields that belong together, with a way to leave the whole out. */
export function Group({ label, help, problem, actions, children, is_open }: GroupProps) {
  return (
    <fieldset className="form-group" data-open={is_open} aria-invalid={problem === null ? undefined : true}>
      <legend>{label}</legend>
      <div className="row">
        <div className="help grow">{help}</div>
        {actions !== undefined && <div className="row">{actions}</div>}
      </div>
      {problem !== null && <div className="problem">{problem}</div>}
      {children}
    </fieldset>
  );
}

/** A list with more entries shows the rest as JSON. */
export const most_entries = 200;

export function small(text: string, onClick: () => void) {
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
        {shown.slice(0, most_entries).map(([name, one], at) => (
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
