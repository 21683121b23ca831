// API keys of the tenant: who may do what, until when, and when each was last used.
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { Link } from "wouter";
import type { ReplyOf } from "../../../../src/core/api/endpoint.js";
import type { keys_api } from "../../../../src/core/api/keys.js";
import { call } from "../../api/call.js";
import { cliLine, curlLine } from "../../api/commands.js";
import { useGet } from "../../api/hooks.js";
import { pageBase } from "../../api/page_base.js";
import { useForbidden, useSession } from "../../api/session.js";
import { FormDialog } from "../../form/form_dialog.js";
import { isRecord, type Value, writeValue } from "../../form/values.js";
import { to, useQueryState } from "../../routes.js";
import {
  Button,
  Empty,
  Page,
  ProblemNote,
  Safe,
  SecretOnce,
  Skeleton,
  StatusBadge,
  Table,
  Time,
  VerbDialog,
} from "../../ui/index.js";
import "./keys.css";

type KeyRecord = ReplyOf<typeof keys_api.get>;
type Doing = { verb: "create" } | { verb: "rotate" | "revoke"; key: KeyRecord };

const looks: Record<KeyRecord["status"], { status: string; label: string }> = {
  active: { status: "completed", label: "active" },
  ending: { status: "retrying", label: "ends soon" },
  expired: { status: "skipped", label: "expired" },
  revoked: { status: "cancelled", label: "revoked" },
};

export function KeysPage() {
  const forbidden = useForbidden("admin");
  if (forbidden !== null) {
    return (
      <Page title="Keys">
        <Empty title="Keys are for administrators">{forbidden} Ask somebody who has it.</Empty>
      </Page>
    );
  }
  return <Keys />;
}

function Keys() {
  const [{ cursor }, set] = useQueryState({ cursor: "" });
  const { key_id: own } = useOwnKey();
  const [doing, setDoing] = useState<Doing | null>(null);
  const { data, error } = useGet<typeof keys_api.list>(
    "/api/keys",
    { query: { limit: 50, ...(cursor === "" ? {} : { cursor }) } },
    { when: ({ kind }) => kind.startsWith("key."), every_ms: 60_000 },
  );
  return (
    <Page
      title="Keys"
      actions={
        <Button kind="primary" onClick={() => setDoing({ verb: "create" })}>
          Make a key
        </Button>
      }
    >
      <ProblemNote error={error} title="The keys cannot be read" />
      {data === undefined && error === null && <Skeleton lines={4} />}
      {data !== undefined && data.keys.length === 0 && (
        <Empty title="No keys here" command="fanfold keys create ci --scope submit,read">
          Programs and people sign in with a key.
        </Empty>
      )}
      {data !== undefined && data.keys.length > 0 && (
        <Table
          caption="API keys, newest first"
          rows={data.keys}
          rowKey={({ key_id }) => key_id}
          rowClass={({ status }) => (status === "revoked" || status === "expired" ? "key-over" : undefined)}
          columns={[
            {
              id: "name",
              title: "Name",
              cell: (key) => (
                <div className="key-name">
                  <strong>
                    <Safe text={key.name} limit={100} />
                  </strong>
                  <code className="muted small">
                    ff_{key.env}_{key.key_id}
                  </code>
                  {key.key_id === own && <span className="muted small">you are signed in with it</span>}
                </div>
              ),
            },
            {
              id: "scopes",
              title: "May",
              cell: ({ scopes, operator }) => (
                <span>
                  {scopes.join(", ")}
                  {operator && " "}
                  {operator && <span className="key-operator">operator</span>}
                </span>
              ),
            },
            {
              id: "status",
              title: "State",
              cell: (key) => (
                <div>
                  <StatusBadge {...looks[key.status]} />
                  <div className="muted small">
                    {key.status === "revoked" && key.revoked_by !== null && (
                      <>
                        by <Safe text={key.revoked_by} limit={40} />
                      </>
                    )}
                    {key.status === "ending" && <Time at={key.revoked_at} />}
                  </div>
                </div>
              ),
            },
            {
              id: "expires",
              title: "Expires",
              cell: ({ expires_at }) =>
                expires_at === null ? <span className="muted">never</span> : <Time at={expires_at} />,
            },
            {
              id: "used",
              title: "Last used",
              cell: ({ last_used_at }) =>
                last_used_at === null ? <span className="muted">never</span> : <Time at={last_used_at} />,
            },
            {
              id: "made",
              title: "Made",
              minor: true,
              cell: ({ created_at, created_by }) => (
                <span title={created_by}>
                  <Time at={created_at} />
                </span>
              ),
            },
            {
              id: "do",
              title: "",
              cell: (key) => <KeyButtons key_record={key} onDo={setDoing} />,
            },
          ]}
        />
      )}
      {data?.next != null && (
        <div className="row">
          <Button onClick={() => set({ cursor: data.next ?? "" })}>Older</Button>
        </div>
      )}
      {doing !== null && (
        <KeyDialog
          doing={doing}
          is_own={doing.verb !== "create" && doing.key.key_id === own}
          onClose={() => setDoing(null)}
        />
      )}
    </Page>
  );
}

/** The key behind the session, as its actor names it. */
function useOwnKey(): { key_id: string | null } {
  const { actor } = useSession();
  return { key_id: /^key:([a-z0-9]{12})/.exec(actor)?.[1] ?? null };
}

function KeyButtons({ key_record: key, onDo }: { key_record: KeyRecord; onDo(doing: Doing): void }) {
  const { operator, scopes } = useSession();
  if (key.status === "revoked") {
    return <Link href={to.audit({ kind: "key." })}>history</Link>;
  }
  const beyond =
    key.operator && !operator
      ? "Only operators may change keys of operators."
      : key.scopes.some((scope) => !scopes.includes(scope))
        ? "It may do more than your key does."
        : null;
  return (
    <div className="row key-do">
      <Button
        className="small-button"
        forbidden={key.status === "expired" ? "It has expired: make a new one." : beyond}
        onClick={() => onDo({ verb: "rotate", key })}
      >
        Rotate
      </Button>
      <Button className="small-button" forbidden={beyond} onClick={() => onDo({ verb: "revoke", key })}>
        Revoke
      </Button>
    </div>
  );
}

function KeyDialog({ doing, is_own, onClose }: { doing: Doing; is_own: boolean; onClose(): void }) {
  if (doing.verb === "create") return <CreateKey onClose={onClose} />;
  if (doing.verb === "rotate") return <RotateKey record={doing.key} onClose={onClose} />;
  return <RevokeKey record={doing.key} is_own={is_own} onClose={onClose} />;
}

const plain = (value: Value): Record<string, unknown> => JSON.parse(writeValue(value)) as Record<string, unknown>;

function CreateKey({ onClose }: { onClose(): void }) {
  const { scopes, operator } = useSession();
  const client = useQueryClient();
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
              description: "Of whoever runs the service: sees tenants, sets limits",
            },
          }
        : {}),
    },
  };
  return (
    <FormDialog
      title="Make a key"
      schema={schema}
      start={{ scopes: ["submit", "read"].filter((one) => scopes.includes(one as never)) }}
      verb="Make it"
      send={(value) => call<typeof keys_api.create>("POST", "/api/keys", { body: plain(value) as never })}
      onDone={() => void client.invalidateQueries()}
      done={({ key, name }) => (
        <>
          <p>
            <Safe text={name} /> is ready. Give it to a program as <code>FANFOLD_API_KEY</code>.
          </p>
          <SecretOnce text={key} what="the key" />
        </>
      )}
      commands={(value) => {
        const given = isRecord(value) ? value : {};
        const scopes_text = Array.isArray(given.scopes) ? given.scopes.map(String).join(",") : "";
        return {
          cli: cliLine(["keys", "create", typeof given.name === "string" ? given.name : "<name>"], {
            scope: scopes_text,
            env: typeof given.env === "string" ? given.env : undefined,
            expires: typeof given.expires_at === "string" ? given.expires_at : undefined,
            operator: given.operator === true,
          }),
          curl: curlLine(pageBase(), { method: "POST", path: "/api/keys", text: writeValue(value) }),
        };
      }}
      onClose={onClose}
    />
  );
}

function RotateKey({ record, onClose }: { record: KeyRecord; onClose(): void }) {
  const client = useQueryClient();
  const { key_id } = record;
  return (
    <FormDialog
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
            description: "Of the new one; null: as long as the old one was given",
          },
        },
      }}
      start={{}}
      verb="Rotate"
      send={(value) =>
        call<typeof keys_api.rotate>("POST", "/api/keys/{key_id}/rotate", {
          params: { key_id },
          body: plain(value) as never,
        })
      }
      onDone={() => void client.invalidateQueries()}
      done={({ old, new: made }) => (
        <>
          <p>
            The old key works until <Time at={old.revoked_at} />. Put the new one in its place before that.
          </p>
          <SecretOnce text={made.key} what="the new key" />
        </>
      )}
      commands={(value) => ({
        cli: cliLine(["keys", "rotate", key_id], {
          overlap: isRecord(value) && value.overlap_s !== undefined ? writeValue(value.overlap_s) : undefined,
        }),
        curl: curlLine(pageBase(), {
          method: "POST",
          path: "/api/keys/{key_id}/rotate",
          params: { key_id },
          text: writeValue(value),
        }),
      })}
      onClose={onClose}
    >
      A new key with the same name and scopes takes its place; for a while both are valid.
    </FormDialog>
  );
}

function RevokeKey({ record, is_own, onClose }: { record: KeyRecord; is_own: boolean; onClose(): void }) {
  const client = useQueryClient();
  const { key_id } = record;
  return (
    <VerbDialog
      title={`Revoke ${record.name}`}
      verb="Revoke"
      danger
      dry_run={false}
      run={({ reason }) =>
        call<typeof keys_api.revoke>("DELETE", "/api/keys/{key_id}", {
          params: { key_id },
          query: reason === undefined ? {} : { reason },
        })
      }
      tell={() => "It is refused from now on, everywhere within five seconds."}
      cli={(reason) => cliLine(["keys", "revoke", key_id], { reason })}
      curl={(reason) =>
        curlLine(pageBase(), { method: "DELETE", path: "/api/keys/{key_id}", params: { key_id }, query: { reason } })
      }
      onDone={() => void client.invalidateQueries()}
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

const deeds: Record<string, string> = {
  submit: "submitting jobs",
  read: "looking at jobs and files",
  operate: "retrying and cancelling",
  work: "remote workers that take tasks with it",
  admin: "changing keys, webhooks and settings",
};

function stops({ scopes }: KeyRecord): string {
  return scopes.map((scope) => deeds[scope] ?? scope).join(", ");
}
