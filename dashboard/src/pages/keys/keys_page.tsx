// API keys of the tenant: who may do what, until when, and when each was last used.
import { useState } from "react";
import { Link } from "wouter";
import { useGet } from "../../api/hooks.js";
import { useForbidden, useSession } from "../../api/session.js";
import { to, useQueryState } from "../../routes.js";
import { Button, Empty, FirstRead, Page, Safe, StatusBadge, Table, Time, Turn } from "../../ui/index.js";
import { type Doing, KeyDialog, type KeyRecord } from "./key_verbs.js";
import "./keys.css";

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
        <Empty title="Keys are for administrators">{forbidden} Ask a person who has it.</Empty>
      </Page>
    );
  }
  return <Keys />;
}

function Keys() {
  const [{ cursor }, set] = useQueryState({ cursor: "" });
  const { key_id: own } = useSession();
  const [doing, setDoing] = useState<Doing | null>(null);
  const { data, error } = useGet(
    "keys.list",
    { limit: 50, cursor },
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
      <FirstRead data={data} error={error} title="The keys cannot be read" lines={4} />
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
              title: "Expires",
              cell: ({ expires_at }) =>
                expires_at === null ? <span className="muted">never</span> : <Time at={expires_at} />,
            },
            {
              title: "Last used",
              cell: ({ last_used_at }) =>
                last_used_at === null ? <span className="muted">never</span> : <Time at={last_used_at} />,
            },
            {
              title: "Made",
              minor: true,
              cell: ({ created_at, created_by }) => (
                <span title={created_by}>
                  <Time at={created_at} />
                </span>
              ),
            },
            {
              title: "",
              cell: (key) => <KeyButtons key_record={key} onDo={setDoing} />,
            },
          ]}
        />
      )}
      <Turn page={data} onTurn={(cursor) => set({ cursor })} next="Older" />
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
