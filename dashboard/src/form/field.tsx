// One field, as its schema asks for it.
import type { ReactNode } from "react";
import { ChoiceField, ObjectField, RecordField } from "./group_fields.js";
import { ListField, TupleField } from "./list_fields.js";
import { ChoiceOfValues, ConstField, type FieldProps, JsonField, NumberField, TextField } from "./scalar_fields.js";
import { most_depth, readSchema, type Schema } from "./schema.js";
import { useForm } from "./state.js";
import { isOfKind, type Path, Unfinished, type Value } from "./values.js";

interface FieldOfProps {
  schema: Schema;
  path: Path;
  label: ReactNode;
  required: boolean;
  value: Value;
  depth: number;
  onRemove?: (() => void) | undefined;
  /** Inside a frame that names it already. */
  bare?: boolean;
}

export function FieldOf({ schema, path, label, required, value, depth, onRemove, bare }: FieldOfProps) {
  const { root } = useForm();
  const read = readSchema(schema, root);
  const props = { read, path, label, required, value, depth, onRemove, bare };
  const kind = depth > most_depth || !canShow(read.shape.kind, value) ? "json" : read.shape.kind;
  switch (kind) {
    case "text":
      return <TextField {...(props as FieldProps<"text">)} />;
    case "number":
      return <NumberField {...(props as FieldProps<"number">)} />;
    case "boolean":
      return <ChoiceOfValues {...props} values={[true, false]} />;
    case "enum":
      return <ChoiceOfValues {...props} values={(props as FieldProps<"enum">).read.shape.values} />;
    case "const":
      return <ConstField {...(props as FieldProps<"const">)} />;
    case "list":
      return <ListField {...(props as FieldProps<"list">)} />;
    case "tuple":
      return <TupleField {...(props as FieldProps<"tuple">)} />;
    case "object":
      return <ObjectField {...(props as FieldProps<"object">)} />;
    case "record":
      return <RecordField {...(props as FieldProps<"record">)} />;
    case "choice":
      return <ChoiceField {...(props as FieldProps<"choice">)} />;
    default:
      return <JsonField {...props} />;
  }
}

/** A value of another kind than its field, typed as JSON, is shown as what it is and not lost. */
function canShow(kind: string, value: Value): boolean {
  if (value === undefined || value === null) return true;
  // Half a number is a number that is being typed; a box to tick shows whatever it is given.
  if (value instanceof Unfinished) return kind === "number";
  return kind === "boolean" || isOfKind(kind, value);
}
