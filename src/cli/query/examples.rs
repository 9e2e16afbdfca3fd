//! Questions that people ask, as SQL. A test runs each.

/// A question and its statement. Statements hold nothing that a shell changes between `"`.
pub(super) struct Example {
    pub(super) title: &'static str,
    pub(super) sql: &'static str,
}

const fn example(title: &'static str, sql: &'static str) -> Example {
    Example { title, sql }
}

pub(super) const OF_HEAPS: [Example; 10] = [
    example(
        "types by size",
        "select type, count(*) as objects, sum(shallow_bytes) as bytes from objects where reachable
  group by type order by bytes desc limit 10",
    ),
    example(
        "the objects that retain most",
        "select id, type, retained_bytes from objects order by retained_bytes desc limit 10",
    ),
    example(
        "why they are alive",
        "select path(id) from (select id from objects order by retained_bytes desc limit 3)",
    ),
    example(
        "what refers to one object",
        "select o.id, o.type, r.label from objects t join refs r on r.dst = t.object
  join objects o on o.object = r.src where t.object = 1 limit 20",
    ),
    example(
        "which type refers to which, through what",
        "select s.type, r.label, d.type, count(*) as n from refs r
  join objects s on s.object = r.src join objects d on d.object = r.dst
  group by s.type, r.label, d.type order by n desc limit 20",
    ),
    example(
        "objects that many refer to",
        "select o.id, o.type, n from (select dst, count(*) as n from refs group by dst
  order by n desc limit 10) join objects o on o.object = dst",
    ),
    example(
        "garbage by type",
        "select type, count(*) as objects, sum(shallow_bytes) as bytes from objects
  where not reachable group by type order by bytes desc limit 10",
    ),
    example(
        "texts that are there several times",
        "select value(id) as text, count(*) as n, sum(shallow_bytes) as bytes from objects
  where kind = 'text' and value(id) <> '' group by text having n > 1 order by bytes desc limit 10",
    ),
    example(
        "what the roots of each kind hold",
        "select r.kind, count(*) as roots, sum(o.shallow_bytes) as bytes
  from roots r join objects o on o.object = r.object group by r.kind order by roots desc",
    ),
    example(
        "threads and where they are",
        "select t.kind, t.name, t.state, t.retained_bytes, f.function from threads t
  left join frames f on f.thread = t.thread and f.depth = 0
  order by t.retained_bytes desc limit 10",
    ),
];

pub(super) const OF_PROFILES: [Example; 10] = [
    example(
        "functions by what they cost themselves",
        "select function, file, metric, self, total from functions
  where metric = (select metric from functions limit 1) order by self desc limit 10",
    ),
    example(
        "functions by what they cost with their callees",
        "select function, file, metric, total from functions
  where metric = (select metric from functions limit 1) order by total desc limit 10",
    ),
    example("the metrics", "select metric, sum(self) as total from functions group by metric"),
    example(
        "files",
        "select file, metric, sum(self) as self from functions group by file, metric
  order by self desc limit 10",
    ),
    example(
        "threads by samples",
        "select process, thread, sum(samples) as samples from samples group by process, thread
  order by samples desc limit 10",
    ),
    example(
        "the lines that most samples end in",
        "select f.function, f.file, f.line, sum(s.samples) as samples from samples s
  join stacks k on k.stack = s.stack join frames f on f.frame = k.frame
  group by f.frame order by samples desc limit 10",
    ),
    example(
        "who calls whom",
        "select c.function as caller, f.function as callee, count(*) as stacks from stacks k
  join stacks p on p.stack = k.parent join frames c on c.frame = p.frame
  join frames f on f.frame = k.frame group by caller, callee order by stacks desc limit 20",
    ),
    example(
        "the stack that most samples have",
        "with recursive up(stack, parent, frame, depth) as (
  select k.stack, k.parent, k.frame, k.depth from stacks k where k.stack =
    (select stack from samples group by stack order by sum(samples) desc limit 1)
  union all select k.stack, k.parent, k.frame, k.depth from up join stacks k on k.stack = up.parent)
  select up.depth, f.function, f.file, f.line from up join frames f on f.frame = up.frame
  order by up.depth",
    ),
    example(
        "how deep stacks are",
        "select k.depth, sum(s.samples) as samples from samples s join stacks k on k.stack = s.stack
  group by k.depth order by k.depth limit 20",
    ),
    example("functions by name", "select function, file, metric, self from functions where function like '%main%'"),
];

pub(super) const OF_TWO_HEAPS: Example = example(
    "what grew",
    "select n.type, n.count - ifnull(o.count, 0) as more,
  n.live_shallow_bytes - ifnull(o.live_shallow_bytes, 0) as bytes
  from new.types n left join old.types o on o.type = n.type and o.namespace = n.namespace
  and o.kind = n.kind order by bytes desc limit 10",
);

pub(super) const OF_TWO_PROFILES: Example = example(
    "what takes longer",
    "select n.function, n.metric, n.self - ifnull(o.self, 0) as more from new.functions n
  left join old.functions o on o.function = n.function and o.file = n.file
  and o.metric = n.metric order by more desc limit 10",
);
