-- Rejects are looked at by layer, whatever job met them; and versions by the job that made them.

create index rejects_of_a_layer on geo.rejects (tenant_id, layer, job_id, chunk, row_number);
create index versions_of_a_job on geo.layer_versions (tenant_id, job_id, name);
