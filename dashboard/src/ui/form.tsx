// Fields with a label, help and what is wrong with them.
import {
  type InputHTMLAttributes,
  type ReactNode,
  type SelectHTMLAttributes,
  type TextareaHTMLAttributes,
  useId,
} from "react";

interface FieldParts {
  label: ReactNode;
  help?: ReactNode;
  problem?: ReactNode;
}

export function Field({
  label,
  help,
  problem,
  children,
}: FieldParts & { children(ids: { id: string; "aria-describedby"?: string; "aria-invalid"?: true }): ReactNode }) {
  const id = useId();
  const described = [
    help !== undefined && help !== null && `${id}-help`,
    problem !== undefined && problem !== null && `${id}-problem`,
  ]
    .filter(Boolean)
    .join(" ");
  const ids = {
    id,
    ...(described === "" ? {} : { "aria-describedby": described }),
    ...(problem === undefined || problem === null ? {} : { "aria-invalid": true as const }),
  };
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      {children(ids)}
      {help !== undefined && help !== null && (
        <div id={`${id}-help`} className="help">
          {help}
        </div>
      )}
      {problem !== undefined && problem !== null && (
        <div id={`${id}-problem`} className="problem">
          {problem}
        </div>
      )}
    </div>
  );
}

export function Input({ label, help, problem, ...rest }: FieldParts & InputHTMLAttributes<HTMLInputElement>) {
  return (
    <Field label={label} help={help} problem={problem}>
      {(ids) => <input autoComplete="off" spellCheck={false} {...rest} {...ids} />}
    </Field>
  );
}

export function TextArea({ label, help, problem, ...rest }: FieldParts & TextareaHTMLAttributes<HTMLTextAreaElement>) {
  return (
    <Field label={label} help={help} problem={problem}>
      {(ids) => <textarea spellCheck={false} {...rest} {...ids} />}
    </Field>
  );
}

export function Select({
  label,
  help,
  problem,
  options,
  ...rest
}: FieldParts & SelectHTMLAttributes<HTMLSelectElement> & { options: readonly { value: string; text: string }[] }) {
  return (
    <Field label={label} help={help} problem={problem}>
      {(ids) => (
        <select {...rest} {...ids}>
          {options.map(({ value, text }) => (
            <option key={value} value={value}>
              {text}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
}

export function Checkbox({
  label,
  help,
  ...rest
}: { label: ReactNode; help?: ReactNode } & InputHTMLAttributes<HTMLInputElement>) {
  const id = useId();
  return (
    <div className="field check">
      <input id={id} type="checkbox" aria-describedby={help === undefined ? undefined : `${id}-help`} {...rest} />
      <label htmlFor={id}>{label}</label>
      {help !== undefined && (
        <div id={`${id}-help`} className="help">
          {help}
        </div>
      )}
    </div>
  );
}
