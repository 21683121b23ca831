// Groups of jobs: how far each is, and what became of it. One of them has a page of its own.
import { Link, useParams } from "wouter";
import { useGet } from "../../api/hooks.js";
import { to, useQueryState } from "../../routes.js";
import { Empty, FirstRead, Page, Safe, Select, StackedBar, StatusBadge, Table, Time, Turn } from "../../ui/index.js";
import { GroupPage } from "./group_page.js";
import "./groups.css";
import { ended_as, type Group, standing } from "./standing.js";

const PAGE_SIZE = 50;
const AGAIN_MS = 5_000;

export function GroupsPage() {
  const { group_id } = useParams<{ group_id?: string }>();
  return group_id === undefined ? <List /> : <GroupPage key={group_id} group_id={group_id} />;
}

const states = ["open", ...ended_as] as const;

function List() {
  const [{ status, cursor }, set] = useQueryState({ status: "", cursor: "" });
  const asked = states.find((one) => one === status);
  const { data, error } = useGet(
    "groups.list",
    { limit: PAGE_SIZE, status: asked, cursor },
    { when: ({ kind }) => /^(group|job)\./.test(kind), every_ms: AGAIN_MS },
  );
  return (
    <Page title="Groups">
      <div className="groups-filter">
        <Select
          label="State"
          value={asked ?? ""}
          onChange={({ target }) => set({ status: target.value, cursor: "" })}
          options={[{ value: "", text: "any" }, ...states.map((value) => ({ value, text: value.replace("_", " ") }))]}
        />
      </div>
      <FirstRead data={data} error={error} title="The groups cannot be read" lines={4} />
      {data !== undefined && data.groups.length === 0 && (
        <Empty
          title={asked === undefined ? "No groups yet" : `No group is ${asked.replace("_", " ")}`}
          command="fanfold submit hello_world n=1 --group night-7"
        >
          Jobs that belong together are counted together, and one message tells when all of them have ended. A group
          opens with the first job that names it.
        </Empty>
      )}
      {data !== undefined && data.groups.length > 0 && (
        <Table<Group>
          caption="Groups, newest first"
          rows={data.groups}
          rowKey={({ group_id }) => group_id}
          href={({ group_id }) => to.groups(group_id)}
          columns={[
            { title: "State", cell: (group) => <GroupBadge group={group} /> },
            {
              title: "Group",
              cell: ({ group_id, name }) => (
                <div>
                  <Link href={to.groups(group_id)}>
                    <strong>{group_id}</strong>
                  </Link>
                  {name !== null && (
                    <div className="muted small">
                      <Safe text={name} limit={100} />
                    </div>
                  )}
                </div>
              ),
            },
            { title: "Jobs", cell: (group) => <GroupBar group={group} /> },
            { title: "Created", align: "right", cell: ({ created_at }) => <Time at={created_at} /> },
            {
              title: "Ended",
              align: "right",
              minor: true,
              cell: ({ finished_at }) => <Time at={finished_at} />,
            },
          ]}
        />
      )}
      <Turn page={data} onTurn={(cursor) => set({ cursor })} next="Older" />
    </Page>
  );
}

export function GroupBadge({ group: { status, sealed_at } }: { group: Group }) {
  if (status !== "open") return <StatusBadge status={status} />;
  return <StatusBadge status="processing" label={sealed_at === null ? "open" : "sealed"} />;
}

export function GroupBar({ group }: { group: Group }) {
  return (
    <div className="group-bar">
      <StackedBar
        total={Math.max(group.expected ?? 0, group.total)}
        parts={[...ended_as.map((status) => ({ status, n: group[status] })), { status: "processing", n: group.open }]}
      />
      <span className="small muted number">{standing(group)}</span>
    </div>
  );
}
