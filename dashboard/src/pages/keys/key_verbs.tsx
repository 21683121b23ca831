import { useMemo } from "react";
import type { Reply } from "../../api/call.js";
import { useSession } from "../../api/session.js";
import { FormDialog } from "../../form/form_dialog.js";
import { Safe, SecretOnce, Time, VerbDialog } from "../../ui/index.js";
import { newKey, rotation } from "./key_schemas.js";

export type KeyRecord = Reply<"keys.get">;
export type Doing = { verb: "create" } | { verb: "rotate" | "revoke"; key: KeyRecord };

export function KeyDialog({ doing, is_own, onClose }: { doing: Doing; is_own: boolean; onClose(): void }) {
  if (doing.verb === "create") return <CreateKey onClose={onClose} />;
  if (doing.verb === "rotate") return <RotateKey record={doing.key} onClose={onClose} />;
  return <RevokeKey record={doing.key} is_own={is_own} onClose={onClose} />;
}

function CreateKey({ onClose }: { onClose(): void }) {
  const { scopes, operator } = useSession();
  const schema = useMemo(() => newKey(scopes, operator), [scopes, operator]);
  return (
    <FormDialog
      does="keys.create"
      title="Make a key"
      schema={schema}
      start={{ scopes: ["submit", "read"].filter((one) => scopes.includes(one as never)) }}
      verb="Make it"
      done={({ key, name }) => (
        <>
          <p>
            <Safe text={name} /> is ready. Give it to a program as <code>FANFOLD_KEY</code>.
          </p>
          <SecretOnce text={key} what="the key" />
        </>
      )}
      onClose={onClose}
    />
  );
}

function RotateKey({ record, onClose }: { record: KeyRecord; onClose(): void }) {
  const { key_id } = record;
  return (
    <FormDialog
      does="keys.rotate"
      params={{ key_id }}
      title={`Rotate ${record.name}`}
      schema={rotation}
      start={{}}
      verb="Rotate"
      done={({ old, new: made }) => (
        <>
          <p>
            The old key works until <Time at={old.revoked_at} />. Put the new one in its place before that.
          </p>
          <SecretOnce text={made.key} what="the new key" />
        </>
      )}
      onClose={onClose}
    >
      A new key with the same name and scopes takes its place; for a while both are valid.
    </FormDialog>
  );
}

function RevokeKey({ record, is_own, onClose }: { record: KeyRecord; is_own: boolean; onClose(): void }) {
  const { key_id } = record;
  return (
    <VerbDialog
      does="keys.revoke"
      fields={{ key_id }}
      title={`Revoke ${record.name}`}
      verb="Revoke"
      danger
      dry_run={false}
      tell={() => "It is refused from now on, everywhere within five seconds."}
      onClose={onClose}
    >
      <p>
        Whatever uses{" "}
        <code>
          ff_{record.env}_{key_id}
        </code>{" "}
        is refused within five seconds: {stops(record)}. It cannot be undone; rotate it instead where something still
        needs it.
      </p>
      {record.last_used_at !== null && (
        <p className="muted">
          It was last used <Time at={record.last_used_at} />.
        </p>
      )}
      {is_own && <p className="note danger">This is the key you are signed in with: you will be signed out.</p>}
    </VerbDialog>
  );
}

const scope_words: Record<string, string> = {
  submit: "submitting jobs",
  read: "looking at jobs and files",
  operate: "retrying and cancelling",
  work: "remote workers that take tasks with it",
  admin: "changing keys, webhooks and settings",
};

function stops({ scopes }: KeyRecord): string {
  return scopes.map((scope) => scope_words[scope] ?? scope).join(", ");
}
