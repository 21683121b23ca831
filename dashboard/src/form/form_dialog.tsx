// A window with a form that does one thing: what is wrong stands at its field, and the same is shown for the terminal.
import { useQueryClient } from "@tanstack/react-query";
import { type ReactNode, useMemo, useState } from "react";
import { type VerbName, verb_words } from "../../../src/core/shown/verb_words.js";
import { ApiProblem, type Reply, request } from "../api/call.js";
import { curlLine } from "../api/commands.js";
import { pageBase } from "../api/page_base.js";
import { announce, Button, CliAndCurl, Dialog, ProblemNote } from "../ui/index.js";
import { checkValue } from "./checks.js";
import { formLine } from "./form_lines.js";
import type { Schema } from "./schema.js";
import { SchemaForm } from "./schema_form.js";
import { isRecord, type Value, writeValue } from "./values.js";

/** Numbers keep the digits that were written. */
export async function sendForm<Name extends VerbName>(
  name: Name,
  params: Record<string, string>,
  value: Value,
): Promise<Reply<Name>> {
  const { method, path } = verb_words[name];
  return (await request(method, path, { params, body: writeValue(value) })).json();
}

interface FormDialogProps<Name extends VerbName> {
  /** What is done, by its name: its call comes of it, and the curl line. */
  does: Name;
  /** What its path names. */
  params?: Record<string, string>;
  /** What is sent of the form; all where it is left out. */
  body?(value: Value): Value;
  /** What is sent besides, and not shown. */
  besides?: Record<string, Value>;
  /** The command line of what the form says, where it is not the verb's words with what is sent as options. */
  cli?(given: Record<string, Value>): string | null;
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
  /** Shown in place of the form; without it the window closes. */
  done?(answer: Reply<Name>): ReactNode;
  onClose(): void;
}

export function FormDialog<Name extends VerbName>(props: FormDialogProps<Name>) {
  const {
    does,
    params = {},
    body = (value: Value) => value,
    besides = {},
    title,
    children,
    schema,
    start,
    verb,
    danger = false,
    wide = false,
    onValue,
    beside,
    done,
  } = props;
  const client = useQueryClient();
  const [value, setValue] = useState(start);
  const [show_all, setShowAll] = useState(false);
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<ApiProblem | null>(null);
  const [answer, setAnswer] = useState<Reply<Name> | null>(null);
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
      const sent = body(value);
      const told = await sendForm(does, params, isRecord(sent) ? { ...sent, ...besides } : sent);
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
  const { method, path } = verb_words[does];
  const shown = body(value);
  const given = isRecord(shown) ? shown : {};
  const cli = props.cli === undefined ? formLine(does, { ...params, ...given }) : props.cli(given);
  const curl = curlLine(pageBase(), { method, path, params, text: writeValue(shown) });
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
