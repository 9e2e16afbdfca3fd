-- Many dumps on one machine, with DuckDB: what grows from version to version, and what was lost.
--
-- Write the lake, one dump after the other (dumptool needs memory for one at a time):
--
--     find dumps -type f | while read -r dump; do
--       keys=$(dirname "${dump#dumps/}" | tr / ,)          # service=shop/version=1.4/host=a
--       dumptool convert "$dump" lake/ --to parquet --table types,dump --partition "$keys" --lenient -q
--     done
--
-- and ask:
--
--     duckdb -cmd "set variable lake = 'lake'" < contrib/fleet.sql
--
-- The keys `service`, `version` and `host` are those of the folders; with others, change the two views. contrib/spark/fleet.py asks the
-- same questions on a cluster: it makes the views by itself and runs everything after the line `-- questions`.

set variable lake = coalesce(getvariable('lake'), 'lake');

-- Partition keys stay text: as numbers, 1.10 would be 1.1. Releases are numbered in the order of their versions.
create or replace view types as
select *, dense_rank() over (
    partition by service
    order by list_transform(string_split(version, '.'), lambda part: try_cast(part as int)), version) as release
from read_parquet(getvariable('lake') || '/types/**/*.parquet', hive_partitioning = true, hive_types_autocast = false);

create or replace view dumps as
select * from read_parquet(getvariable('lake') || '/dump/**/*.parquet', hive_partitioning = true, hive_types_autocast = false);

-- questions

-- What do we have, and what was lost?
select service, version, count(*) as dumps, count(distinct host) as hosts, sum(live_count) as live_objects,
  sum(live_shallow_bytes) as live_bytes, sum(case when complete then 0 else 1 end) as damaged
from dumps group by service, version order by service, version;

-- Which dumps are damaged? Their sums are too small.
select service, version, host, file, damage from dumps where not complete order by service, version, host, file;

-- What grows from version to version? Bytes retained on average by the objects of a type, on each host.
with by_release as (
  select service, release, type, namespace, avg(bytes) as bytes from (
    select service, release, host, type, namespace, sum(retained_bytes) as bytes
    from types group by service, release, host, type, namespace) as by_host
  group by service, release, type, namespace)
select service, type, namespace, cast(round(regr_slope(bytes, release)) as bigint) as bytes_per_release,
  cast(min(bytes) as bigint) as least, cast(max(bytes) as bigint) as most, count(*) as releases
from by_release group by service, type, namespace having count(*) > 1
order by bytes_per_release desc, service, type, namespace limit 20;

-- Which types are new in the last release?
select service, type, namespace, sum(live_count) as objects, sum(live_shallow_bytes) as bytes from types as new
where release = (select max(release) from types as last where last.service = new.service)
  and not exists (select 1 from types as old where old.service = new.service and old.release < new.release
    and old.type = new.type and old.namespace is not distinct from new.namespace)
  and release > 1
group by service, type, namespace order by bytes desc, service, type, namespace limit 20;

-- Which host differs from the others of its release? More than twice the median of live bytes.
with hosts as (
  select service, version, host, avg(live_shallow_bytes) as bytes from dumps where complete group by service, version, host),
medians as (select service, version, median(bytes) as usual from hosts group by service, version)
select service, version, host, cast(bytes as bigint) as bytes, cast(usual as bigint) as usual
from hosts join medians using (service, version) where bytes > 2 * usual order by bytes / usual desc, service, version, host;
