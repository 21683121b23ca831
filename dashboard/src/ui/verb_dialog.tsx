// Doing something that matters: what it would touch is counted first, why may be said, and the same is shown for the terminal.
import { type ReactNode, useEffect, useState } from "react";
import { ApiProblem } from "../api/call.js";
import { announce } from "./announce.js";
import { Button } from "./button.js";
import { CliAndCurl } from "./command.js";
import { Dialog } from "./dialog.js";
import { TextArea } from "./form.js";
import { ProblemNote, Skeleton } from "./note.js";

interface VerbDialogProps<Answer> {
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
  run(given: { dry_run: boolean; reason: string | undefined }): Promise<Answer>;
  dry_run?: boolean;
  /** What the dry run, or the verb itself, returned, in words. */
  tell(answer: Answer): ReactNode;
  cli?(reason: string | undefined): string | null;
  curl(reason: string | undefined): string;
  onDone?(answer: Answer): void;
  onClose(): void;
}

export function VerbDialog<Answer>(props: VerbDialogProps<Answer>) {
  const {
    title,
    children,
    verb,
    danger = false,
    wide = false,
    forbidden = null,
    reason: asks = "possible",
    run,
    dry_run = true,
    tell,
    cli,
    curl,
    onDone,
    onClose,
  } = props;
  const [counted, setCounted] = useState<Answer | null>(null);
  const [done, setDone] = useState<Answer | null>(null);
  const [problem, setProblem] = useState<unknown>(null);
  const [busy, setBusy] = useState(false);
  const [text, setText] = useState("");
  const reason = text.trim() === "" ? undefined : text.trim();
  // biome-ignore lint/correctness/useExhaustiveDependencies: counted once, when it is opened
  useEffect(() => {
    if (!dry_run) return;
    let here = true;
    run({ dry_run: true, reason: asks === "needed" ? "dry run" : undefined }).then(
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
      const answer = await run({ dry_run: false, reason });
      setDone(answer);
      announce(`${title}: done`);
      onDone?.(answer);
    } catch (error) {
      setProblem(error instanceof ApiProblem ? error : new ApiProblem({ detail: String(error) }));
    } finally {
      setBusy(false);
    }
  };
  const missing = asks === "needed" && reason === undefined;
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
      <CliAndCurl cli={cli?.(reason)} curl={curl(reason)} />
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
