// Doing something that matters: what it would touch is counted first, why may be said, and the same is shown for the terminal.
import { useQueryClient } from "@tanstack/react-query";
import { type ReactNode, useEffect, useState } from "react";
import type { VerbName } from "../../../src/core/shown/verb_words.js";
import { ApiProblem, call, type FieldsOf, type Reply } from "../api/call.js";
import { type Commands, type Fields, verbCommands } from "../api/commands.js";
import { pageBase } from "../api/page_base.js";
import { announce } from "./announce.js";
import { Button } from "./button.js";
import { CliAndCurl } from "./command.js";
import { Dialog } from "./dialog.js";
import { TextArea } from "./form.js";
import { ProblemNote, Skeleton } from "./note.js";

/** For each of several verbs: what it takes besides what the dialog gives. */
type Besides<Taken> = Taken extends unknown
  ? Omit<Taken, "reason" | "dry_run" | "actor"> & { dry_run?: boolean }
  : never;

interface VerbDialogProps<Name extends VerbName> {
  /** What is done, by its name: its call comes of it, and its lines for the terminal. */
  does: Name;
  /** What it is done about, and what else it takes; the dialog adds the reason, and the dry run. */
  fields: Besides<FieldsOf<Name>>;
  /** Fields that the command line writes in another way. */
  cli_fields?: Fields;
  /** Where the lines for the terminal are others. */
  commands?(reason: string | undefined): Commands;
  title: string;
  /** One sentence: what it does. */
  children?: ReactNode;
  /** The word on the button. */
  verb: string;
  danger?: boolean;
  /** Why it may be looked at, and not done. */
  forbidden?: string | null;
  /** Where there is much to look at first. */
  wide?: boolean;
  /** Whether why is asked for; "needed" where nothing is done without. */
  reason?: "needed" | "possible" | "none";
  /** Without a dry run nothing is counted. */
  dry_run?: boolean;
  /** What the dry run, or the verb itself, returned, in words. */
  tell(answer: Reply<Name>): ReactNode;
  /** Once it is done; what is on the page is read again in any case. */
  onDone?(): void;
  onClose(): void;
}

export function VerbDialog<Name extends VerbName>(props: VerbDialogProps<Name>) {
  type Answer = Reply<Name>;
  const {
    does,
    fields,
    cli_fields,
    title,
    children,
    verb,
    danger = false,
    wide = false,
    forbidden = null,
    reason: asks = "possible",
    dry_run = true,
    tell,
    onDone,
    onClose,
  } = props;
  const client = useQueryClient();
  const [counted, setCounted] = useState<Answer | null>(null);
  const [done, setDone] = useState<Answer | null>(null);
  const [problem, setProblem] = useState<unknown>(null);
  const [busy, setBusy] = useState(false);
  const [text, setText] = useState("");
  const reason = text.trim() === "" ? undefined : text.trim();
  const missing = asks === "needed" && reason === undefined;
  const run = (dry: boolean) =>
    call(does, {
      ...fields,
      ...(dry_run && { dry_run: dry }),
      reason: dry && missing ? "dry run" : reason,
    } as unknown as FieldsOf<Name>);
  const commandsOf = (why: string | undefined) =>
    verbCommands(pageBase(), does, { reason: why, ...fields }, cli_fields);
  const { cli, curl } = (props.commands ?? commandsOf)(missing ? "…" : reason);
  // biome-ignore lint/correctness/useExhaustiveDependencies: counted once, when it is opened
  useEffect(() => {
    if (!dry_run) return;
    let here = true;
    run(true).then(
      (answer) => here && setCounted(answer),
      (error) => here && setProblem(error),
    );
    return () => {
      here = false;
    };
  }, []);
  const act = async () => {
    setBusy(true);
    setProblem(null);
    try {
      setDone(await run(false));
      announce(`${title}: done`);
      onDone?.();
      void client.invalidateQueries();
    } catch (error) {
      setProblem(error instanceof ApiProblem ? error : new ApiProblem({ detail: String(error) }));
    } finally {
      setBusy(false);
    }
  };
  return (
    <Dialog title={title} onClose={onClose} wide={wide}>
      {children !== undefined && <div>{children}</div>}
      {done === null && dry_run && counted === null && problem === null && <Skeleton lines={1} />}
      {done === null && counted !== null && <div className="note">{tell(counted)}</div>}
      {done !== null && (
        <div className="note ok" role="status">
          {tell(done)}
        </div>
      )}
      <ProblemNote error={problem} />
      {done === null && asks !== "none" && (
        <TextArea
          label={asks === "needed" ? "Why (for the record)" : "Why (optional, for the record)"}
          rows={2}
          maxLength={1000}
          value={text}
          onChange={({ target }) => setText(target.value)}
        />
      )}
      <CliAndCurl cli={cli} curl={curl} />
      <footer className="dialog-foot row">
        {done === null ? (
          <>
            <Button onClick={onClose}>Leave it</Button>
            <Button
              kind={danger ? "danger" : "primary"}
              busy={busy}
              forbidden={forbidden ?? (missing ? "Say why first." : null)}
              onClick={act}
              data-verb="run"
            >
              {verb}
            </Button>
          </>
        ) : (
          <Button kind="primary" onClick={onClose}>
            Close
          </Button>
        )}
      </footer>
    </Dialog>
  );
}
