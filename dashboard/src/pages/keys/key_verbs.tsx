import type { Reply } from "../../api/call.js";
import { useSession } from "../../api/session.js";
import { FormDialog } from "../../form/form_dialog.js";
import { Safe, SecretOnce, Time, VerbDialog } from "../../ui/index.js";

export type KeyRecord = Reply<"keys.get">;
export type Doing = { verb: "create" } | { verb: "rotate" | "revoke"; key: KeyRecord };

export function KeyDialog({ doing, is_own, onClose }: { doing: Doing; is_own: boolean; onClose(): void }) {
  if (doing.verb === "create") return <CreateKey onClose={onClose} />;
  if (doing.verb === "rotate") return <RotateKey record={doing.key} onClose={onClose} />;
  return <RevokeKey record={doing.key} is_own={is_own} onClose={onClose} />;
}

function CreateKey({ onClose }: { onClose(): void }) {
  const { scopes, operator } = useSession();
  const schema = {
    type: "object",
    required: ["name", "scopes"],
    additionalProperties: false,
    properties: {
      name: {
        type: "string",
        minLength: 1,
        maxLength: 100,
        description: "What it is for",
        examples: ["nightly imports"],
      },
      env: { type: "string", pattern: "^[a-z0-9]{1,16}$", default: "live", description: "To tell keys apart by sight" },
      scopes: {
        type: "array",
        minItems: 1,
        uniqueItems: true,
        items: { enum: scopes },
        description:
          "submit jobs, read everything, operate (retry, cancel …), work as a worker, admin keys and settings",
      },
      expires_at: {
        anyOf: [{ type: "string", format: "date-time" }, { type: "null" }],
        default: null,
        description: "null: never",
      },
      ...(operator
        ? {
            operator: {
              type: "boolean",
              default: false,
              description: "For operators of the service: sees tenants, sets limits",
            },
          }
        : {}),
    },
  };
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
      schema={{
        type: "object",
        additionalProperties: false,
        properties: {
          overlap_s: {
            type: "integer",
            minimum: 0,
            maximum: 2_592_000,
            default: 3600,
            description: "Seconds for which both are valid",
          },
          expires_at: {
            anyOf: [{ type: "string", format: "date-time" }, { type: "null" }],
            default: null,
            description: "When the new one ends; null: as long as the old one was given",
          },
        },
      }}
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
