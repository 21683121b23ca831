// A window with a form that does one thing: what is wrong stands at its field, and the same is shown for the terminal.
import { useQueryClient } from "@tanstack/react-query";
import { type ReactNode, useMemo, useState } from "react";
import { ApiProblem } from "../api/call.js";
import type { Commands } from "../api/commands.js";
import { announce, Button, CliAndCurl, Dialog, ProblemNote } from "../ui/index.js";
import { checkValue } from "./checks.js";
import type { Schema } from "./schema.js";
import { SchemaForm } from "./schema_form.js";
import type { Value } from "./values.js";

interface FormDialogProps<Answer> {
  title: string;
  children?: ReactNode;
  schema: Schema;
  start: Value;
  verb: string;
  danger?: boolean;
  wide?: boolean;
  /** Told about every change, for what is shown beside. */
  onValue?(value: Value): void;
  beside?: ReactNode;
  send(value: Value): Promise<Answer>;
  commands(value: Value): Commands;
  /** Shown in place of the form; without it the window closes. */
  done?(answer: Answer): ReactNode;
  onClose(): void;
}

export function FormDialog<Answer>(props: FormDialogProps<Answer>) {
  const {
    title,
    children,
    schema,
    start,
    verb,
    danger = false,
    wide = false,
    onValue,
    beside,
    send,
    commands,
    done,
  } = props;
  const client = useQueryClient();
  const [value, setValue] = useState(start);
  const [show_all, setShowAll] = useState(false);
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<ApiProblem | null>(null);
  const [answer, setAnswer] = useState<Answer | null>(null);
  const own = useMemo(() => checkValue(schema, value, schema), [schema, value]);
  const act = async () => {
    if (own.length > 0 && !show_all) {
      setShowAll(true);
      announce(`${own.length} ${own.length === 1 ? "problem" : "problems"}`);
      return;
    }
    setBusy(true);
    setProblem(null);
    try {
      const told = await send(value);
      announce(`${title}: done`);
      void client.invalidateQueries();
      if (done === undefined) props.onClose();
      else setAnswer(told);
    } catch (error) {
      setShowAll(true);
      setProblem(error instanceof ApiProblem ? error : new ApiProblem({ detail: String(error) }));
    } finally {
      setBusy(false);
    }
  };
  if (answer !== null && done !== undefined) {
    return (
      <Dialog title={title} onClose={props.onClose} wide={wide}>
        {done(answer)}
        <footer className="dialog-foot row">
          <Button kind="primary" onClick={props.onClose}>
            Close
          </Button>
        </footer>
      </Dialog>
    );
  }
  const told = (problem?.problems ?? []).map((one) => ({
    ...one,
    path: one.path.replace(/^(body|query)(?=[.[]|$)/, "$$"),
  }));
  const at_fields = told.filter(({ path }) => path.startsWith("$."));
  const { cli, curl } = commands(value);
  return (
    <Dialog title={title} onClose={props.onClose} wide={wide}>
      {children !== undefined && <div>{children}</div>}
      <SchemaForm
        schema={schema}
        value={value}
        onChange={(next) => {
          setProblem(null);
          setValue(next);
          onValue?.(next);
        }}
        told={at_fields}
        show_all={show_all}
        label={title.toLowerCase()}
      />
      {beside}
      {problem !== null && (
        <ProblemNote
          error={
            at_fields.length > 0 && at_fields.length === problem.problems.length
              ? new ApiProblem({ status: problem.status, detail: "see the fields above" })
              : problem
          }
        />
      )}
      <CliAndCurl cli={cli} curl={curl} />
      <footer className="dialog-foot row">
        <Button onClick={props.onClose}>Leave it</Button>
        <Button kind={danger ? "danger" : "primary"} busy={busy} onClick={() => void act()} data-verb="run">
          {own.length > 0 && show_all ? `${verb} anyway` : verb}
        </Button>
      </footer>
    </Dialog>
  );
}
