-- What the event stream needs: the events of one tenant in their order, for whoever comes back and asks for what was missed.

set local role fanfold_owner;

create index events_by_tenant on app.events (tenant_id, event_id);

reset role;
