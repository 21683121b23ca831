// What the tenant may use at most and what it uses now; operators look at any tenant, and set.
import { useState } from "react";
import { printable } from "../../../../src/core/values/printable.js";
import type { Reply } from "../../api/call.js";
import { cliLine } from "../../api/commands.js";
import { useGet } from "../../api/hooks.js";
import { useForbidden, useSession } from "../../api/session.js";
import { FormDialog } from "../../form/form_dialog.js";
import { fromPlain, isRecord, type Value, writeValue } from "../../form/values.js";
import { useQueryState } from "../../routes.js";
import { Button, Card, Count, FirstRead, Page, ProblemNote, Safe, Select, Time } from "../../ui/index.js";
import { new_tenant } from "./tenant_schema.js";
import "./limits.css";

type LimitsRecord = Reply<"limits.own">;
type Name = keyof LimitsRecord["limits"];

const words: Record<Name, { title: string; what: string; unit: string }> = {
  concurrent_tasks: {
    title: "Tasks at once",
    what: "Tasks in hand at the same time; others wait their turn.",
    unit: "running now",
  },
  queued_tasks: {
    title: "Tasks that wait",
    what: "A submit that brings more is refused until some are done.",
    unit: "waiting now",
  },
  submits_per_s: {
    title: "Submits per second",
    what: "Jobs and lone tasks; more are refused with a time to come back.",
    unit: "",
  },
  submit_burst: {
    title: "Submits at once",
    what: "After a pause so many may come together; a second's worth when not set.",
    unit: "",
  },
  fan_out: { title: "Tasks of one stage", what: "A wider stage is refused.", unit: "" },
  submit_bytes: { title: "Bytes of one submit", what: "Of the parameters in one call.", unit: "" },
  plan_bytes: { title: "Bytes of one plan", what: "Of the tasks that it makes; 64 MB when not set.", unit: "" },
};
const names = Object.keys(words) as Name[];

export function LimitsPage() {
  const { tenant_id: own, operator } = useSession();
  const [{ tenant }, set] = useQueryState({ tenant: "" });
  const admin = useForbidden("admin");
  const may_choose = operator && admin === null;
  const shown = may_choose && tenant !== "" ? tenant : own;
  const others = shown !== own;
  const mine = useGet("limits.own", {}, { every_ms: 2_000, enabled: !others });
  const theirs = useGet("limits.get", { tenant_id: shown }, { every_ms: 2_000, enabled: others });
  const { data, error } = others ? theirs : mine;
  const [changing, setChanging] = useState(false);
  return (
    <Page
      title="Limits"
      actions={
        <Button
          kind="primary"
          forbidden={may_choose ? null : "Limits are set by operators of the service, with an operator's key."}
          onClick={() => setChanging(true)}
        >
          Set limits
        </Button>
      }
    >
      {may_choose && (
        <div className="tenant-choice">
          <TenantChoice value={shown} onChange={(next) => set({ tenant: next === own ? "" : next })} />
        </div>
      )}
      <FirstRead data={data} error={error} title="The limits cannot be read" lines={5} />
      {data !== undefined && data.tenant_id === shown && (
        <div className="limits">
          {names.map((name) => (
            <LimitCard key={name} name={name} record={data} />
          ))}
        </div>
      )}
      {may_choose && <Tenants />}
      {changing && data !== undefined && <ChangeLimits record={data} onClose={() => setChanging(false)} />}
    </Page>
  );
}

function TenantChoice({ value, onChange }: { value: string; onChange(tenant: string): void }) {
  const { data } = useGet("tenants.list", { limit: 1000 });
  const options = (data?.tenants ?? []).map(({ tenant_id, name }) => ({
    value: tenant_id,
    text: name === null ? tenant_id : `${tenant_id} (${printable(name)})`,
  }));
  if (!options.some((one) => one.value === value)) options.unshift({ value, text: value });
  return <Select label="Tenant" value={value} options={options} onChange={({ target }) => onChange(target.value)} />;
}

/** How much of a limit is used; null: nothing to measure, or nothing to measure it by. */
function usedOf(name: Name, { limits, usage }: LimitsRecord): { used: number; most: number | null } | null {
  if (name === "concurrent_tasks" || name === "queued_tasks") return { used: usage[name], most: limits[name] };
  if (name === "submit_burst" && usage.submits_left !== null) {
    const most = limits.submit_burst ?? Math.max(1, Math.ceil(limits.submits_per_s ?? 1));
    return { used: Math.max(0, most - Math.floor(usage.submits_left)), most };
  }
  return null;
}

function LimitCard({ name, record }: { name: Name; record: LimitsRecord }) {
  const limit = record.limits[name];
  const used = usedOf(name, record);
  const share = used === null || used.most === null ? null : Math.min(1, used.used / used.most);
  const state = share === null ? "plain" : share >= 1 ? "full" : share >= 0.8 ? "near" : "plain";
  return (
    <Card className="limit">
      <div className="limit-head">
        <h2>{words[name].title}</h2>
        <span
          className="limit-value"
          title={limit === null && used?.most != null ? "from the submits per second" : undefined}
        >
          {limit !== null ? (
            <Count n={limit} />
          ) : (
            <span className="muted">{used?.most != null ? <Count n={used.most} /> : "no limit"}</span>
          )}
        </span>
      </div>
      {used !== null && used.most !== null && (
        <div className="limit-meter" data-state={state} role="img" aria-label={`${used.used} of ${used.most} used`}>
          <span style={{ width: `${(share ?? 0) * 100}%` }} />
        </div>
      )}
      <p className="muted small">
        {used !== null && (
          <>
            <Count n={used.used} /> {words[name].unit === "" ? "used" : words[name].unit}
            {share !== null && ` (${Math.round(share * 100)} %)`}.{" "}
          </>
        )}
        {words[name].what} <code>{name}</code>
      </p>
    </Card>
  );
}

const most: Record<Name, object> = {
  concurrent_tasks: { type: "integer", minimum: 1, maximum: 2_147_483_647 },
  queued_tasks: { type: "integer", minimum: 1, maximum: 1_000_000_000_000 },
  submits_per_s: { type: "number", minimum: 0.001, maximum: 1_000_000 },
  submit_burst: { type: "integer", minimum: 1, maximum: 10_000_000 },
  fan_out: { type: "integer", minimum: 1, maximum: 10_000_000 },
  submit_bytes: { type: "integer", minimum: 2, maximum: 1_073_741_824 },
  plan_bytes: { type: "integer", minimum: 1, maximum: 1_073_741_824 },
};

function ChangeLimits({ record, onClose }: { record: LimitsRecord; onClose(): void }) {
  const { tenant_id, limits } = record;
  const properties = names.map((name) => [
    name,
    { anyOf: [most[name], { type: "null" }], description: `${words[name].what} null: no limit` },
  ]);
  /** Only what was changed: what somebody else set meanwhile stays. */
  const changes = (value: Value): Value => {
    const given = isRecord(value) ? Object.entries(value) : [];
    return Object.fromEntries(
      given.filter(([name, one]) => writeValue(one) !== writeValue(fromPlain(limits[name as Name]))),
    );
  };
  return (
    <FormDialog
      does="limits.change"
      params={{ tenant_id }}
      body={changes}
      title={`Limits of ${tenant_id}`}
      schema={{ type: "object", additionalProperties: false, properties: Object.fromEntries(properties) }}
      start={fromPlain(limits)}
      verb="Set them"
      cli={(changed) => {
        const pairs = Object.entries(changed).map(
          ([name, one]) => `${name}=${one === null ? "none" : writeValue(one)}`,
        );
        return pairs.length === 0 ? null : cliLine(["limits", tenant_id, "set", ...pairs]);
      }}
      onClose={onClose}
    >
      What is left as it is stays; null lifts a limit. They hold from the next call on.
    </FormDialog>
  );
}

/** For operators: who is on this service. */
function Tenants() {
  const [making, setMaking] = useState(false);
  const { data, error } = useGet("tenants.list", { limit: 1000 });
  return (
    <Card title="Tenants" actions={<Button onClick={() => setMaking(true)}>Make a tenant</Button>}>
      <ProblemNote error={error} title="The tenants cannot be read" />
      <ul className="bare-list tenants">
        {data?.tenants.map(({ tenant_id, name, created_at }) => (
          <li key={tenant_id}>
            <strong className="mono">{tenant_id}</strong> {name !== null && <Safe text={name} limit={100} />}{" "}
            <span className="muted small">
              made <Time at={created_at} />
            </span>
          </li>
        ))}
      </ul>
      {making && (
        <FormDialog
          does="tenants.create"
          title="Make a tenant"
          schema={new_tenant}
          start={{}}
          verb="Make it"
          onClose={() => setMaking(false)}
        />
      )}
    </Card>
  );
}
