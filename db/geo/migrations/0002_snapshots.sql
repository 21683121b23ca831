-- A snapshot is an ordered copy of a layer that an export reads in pages: one version, whatever is loaded meanwhile.
alter table geo.tables drop constraint kind_is_known;
alter table geo.tables add constraint kind_is_known check (kind in ('stage', 'candidate', 'snapshot', 'layer'));
