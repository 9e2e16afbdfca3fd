"""Walks the objects of a process and writes a line for each."""

import gc
import sys
import types
from json.encoder import encode_basestring_ascii as quoted
from typing import Any, Callable, Dict, Iterator, List, Optional, Set, Tuple

from ._plan import CODE_PARTS, Plan, get_flags, get_members, get_mro, type_name

# Characters and bytes of a text that are written.
MOST_TEXT = 128
# Larger integers are written as their length.
MOST_BITS = 256
# Objects that never die have huge counts of references since 3.12, which say nothing.
IMMORTAL = 1 << 28
# Lines that are written at once.
BATCH = 4096

dict_items = dict.items
list_items = list.__iter__
# PyPy counts no references.
getrefcount: Callable[[Any], int] = getattr(sys, "getrefcount", lambda value: 0)
ordinary_get = object.__getattribute__
bits_of = int.bit_length


class Walker:
    """Writes types, names and objects. Addresses of objects are what `id` returns."""

    def __init__(self, write: Callable[[str], None], contents: bool, unlimited: bool) -> None:
        self.write = write
        self.contents = contents
        self.unlimited = unlimited
        self.plans: Dict[type, Plan] = {}
        self.shapes: Dict[Tuple[str, ...], int] = {}
        self.seen: Set[int] = set()
        self.pending: List[Any] = []
        self.lines: List[str] = []
        self.count = 0
        # Names in the source are no secrets: attributes stay readable where contents are left out.
        self.public: Optional[Set[str]] = None

    def hide(self, values: List[Any]) -> None:
        """Does not write what these refer to: they belong to the dump itself."""
        self.seen.update(map(id, values))

    def find(self, values: List[Any]) -> None:
        """Notes objects that are to be written."""
        seen, pending = self.seen, self.pending
        for value in values:
            address = id(value)
            if address not in seen:
                seen.add(address)
                pending.append(value)

    def walk(self, objects: List[Any]) -> None:
        """Writes these objects, and all that they refer to, once each."""
        seen = self.seen
        if not self.contents:
            self.public = source_names(objects)
        # An object that only this list holds says how many references are the walk's own.
        objects.append(object())
        todo = [value for value in objects if id(value) not in seen]
        seen.update(map(id, todo))
        pending = self.pending
        self.hide([objects, todo, self, self.__dict__, seen, pending, self.lines, self.plans, self.shapes])
        self.each(reversed(todo))
        pending.append(object())
        self.each(popped(pending))
        self.flush()

    def each(self, values: Iterator[Any]) -> None:
        """Writes these objects. The first is not written: only the walk itself refers to it."""
        one, lines = self.one, self.lines
        own = None
        for value in values:
            if own is None:
                own = getrefcount(value)
                continue
            # Not within the call, whose arguments are references too.
            references = getrefcount(value) - own
            one(value, references)
            if len(lines) > BATCH:
                self.flush()

    def flush(self) -> None:
        self.count += sum(1 for line in self.lines if line.startswith('{"o"'))
        self.lines.append("")
        self.write("\n".join(self.lines))
        self.lines.clear()

    def plan(self, cls: type) -> Plan:
        plan = Plan(cls, len(self.plans), self.unlimited)
        self.plans[cls] = plan
        module, name = type_name(cls)
        base = get_mro(cls)[1:2]
        self.find([cls])
        self.lines.append(
            '{"type":%d,"address":%d,"module":%s,"name":%s,"kind":"%s","base":%d,"exact":%s,"heap":%s,"dict":%s}'
            % (
                plan.number,
                id(cls),
                quoted(module),
                quoted(name),
                plan.kind,
                id(base[0]) if base else 0,
                "true" if plan.exact else "false",
                "true" if plan.is_heap else "false",
                "true" if plan.get_dict is not None else "false",
            )
        )
        return plan

    def shape(self, names: Tuple[str, ...]) -> int:
        number = len(self.shapes)
        self.shapes[names] = number
        self.lines.append('{"names":%d,"of":[%s]}' % (number, ",".join(map(quoted, names))))
        return number

    def one(self, value: Any, count: int) -> None:
        """Writes the line of an object."""
        cls = type(value)
        plan = self.plans.get(cls) or self.plan(cls)
        kind = plan.kind
        if count >= IMMORTAL:
            count = 0
        head = '{"o":%d,"t":%d,"s":%d,"c":%d' % (id(value), plan.number, plan.size(value), count)
        if plan.exact:
            if kind == "str":
                self.lines.append(head + self.text(value))
                return
            if kind == "int":
                self.lines.append(head + self.integer(value))
                return
            if kind in ("float", "bytes", "none"):
                self.lines.append(head + self.plain(kind, value))
                return
            if kind == "tuple":
                self.find(value)
                self.lines.append('%s,"i":[%s]}' % (head, ",".join([str(id(item)) for item in value])))
                return
            if kind == "list":
                items = list(list_items(value))
                self.find(items)
                self.lines.append('%s,"i":[%s]}' % (head, ",".join([str(id(item)) for item in items])))
                return
            if kind == "dict":
                self.lines.append(head + self.entries(value) + "}")
                return
        self.lines.append(head + self.composed(cls, plan, value))

    def text(self, value: str) -> str:
        length = len(value)
        if self.public is not None and value not in self.public:
            return ',"l":%d}' % length
        if length > MOST_TEXT:
            return ',"l":%d,"v":%s}' % (length, quoted(value[:MOST_TEXT]))
        return ',"v":%s}' % quoted(value)

    def integer(self, value: int) -> str:
        if not self.contents or bits_of(value) > MOST_BITS:
            return ',"l":%d}' % bits_of(value)
        return ',"v":%d}' % value if type(value) is int else ',"v":%s}' % ("true" if value else "false")

    def plain(self, kind: str, value: Any) -> str:
        if kind == "none":
            return "}"
        if kind == "bytes":
            cut = "" if not self.contents else ',"v":%s' % quoted(bytes(value[:MOST_TEXT]).decode("latin-1"))
            return ',"l":%d%s}' % (len(value), cut)
        return ',"v":"%r"}' % value if self.contents else "}"

    def entries(self, value: Dict[Any, Any]) -> str:
        """The keys and values of a dictionary, by turns."""
        flat: List[Any] = []
        for pair in list(dict_items(value)):
            flat += pair
        self.find(flat)
        return ',"k":[%s]' % ",".join([str(id(item)) for item in flat])

    def composed(self, cls: type, plan: Plan, value: Any) -> str:
        """What an object of any other type refers to: by name, by index or by key, and the rest."""
        kind = plan.kind
        rest = gc.get_referents(value)
        parts = ""
        if kind == "dict":
            parts += self.entries(value)
            contained = {id(item) for pair in list(dict_items(value)) for item in pair}
            rest = [item for item in rest if id(item) not in contained]
        elif kind in ("list", "tuple", "deque", "set"):
            items = list(CONTAINERS[kind](value))
            self.find(items)
            parts += ',"i":[%s]' % ",".join([str(id(item)) for item in items])
            contained = set(map(id, items))
            rest = [item for item in rest if id(item) not in contained]
        elif kind == "code":
            rest = [getattr(value, name) for name in CODE_PARTS if hasattr(value, name)]
            # Bytes are made anew for each request; what nobody else holds is part of the code object.
            rest = [part for part in rest if type(part) is not bytes]
        elif plan.array is not None:
            items = plan.array.elements(value)
            base = plan.array.get_base(value)
            rest = rest if base is None else rest + [base]
            self.find(items)
            if items:
                parts += ',"i":[%s]' % ",".join([str(id(item)) for item in items])
        if kind in LENGTHS:
            parts += LENGTHS[kind](value)
        names, values = self.named(cls, plan, value, rest)
        if plan.is_heap:
            values = [item for item in values if item is not cls]
        self.find(values)
        if names:
            number = self.shapes.get(names)
            parts += ',"n":%d' % (self.shape(names) if number is None else number)
        if values:
            parts += ',"r":[%s]' % ",".join([str(id(item)) for item in values])
        if plan.extra is not None:
            parts += external(plan, value)
        return parts + "}"

    def named(self, cls: type, plan: Plan, value: Any, rest: List[Any]) -> Tuple[Tuple[str, ...], List[Any]]:
        """The names of what an object refers to as far as they are known, and what it refers to, named ones first."""
        names: List[str] = []
        found: List[Any] = []
        left = {id(item): item for item in rest}
        if plan.is_heap:
            left.pop(id(cls), None)
        # The variables of a module's own code are those of the module.
        if plan.kind == "frame" and value.f_locals is not value.f_globals:
            for name, item in dict(value.f_locals).items():
                names.append(name)
                found.append(item)
                left.pop(id(item), None)
        elif plan.kind == "code":
            names = [name for name in CODE_PARTS if id(getattr(value, name, None)) in left]
            return tuple(names), [getattr(value, name) for name in names]
        if plan.kind == "generator" and plan.unlimited:
            variables(value, left, names, found)
        for name, get in plan.members:
            try:
                item = get(value)
            except Exception:  # An empty slot.
                continue
            if id(item) in left:
                names.append(name)
                found.append(left.pop(id(item)))
        if plan.managed or plan.names:
            self.attributes(plan, value, left, names, found)
        if left and plan.get_dict is not None:
            self.dictionary(cls, plan, value, left, names, found)
        if plan.kind in ("class", "module", "function"):
            for item in list(left.values()):
                if type(item) is dict:
                    names.append("__dict__")
                    found.append(left.pop(id(item)))
                    break
        found.extend(left.values())
        return tuple(names), found

    def attributes(self, plan: Plan, value: Any, left: Dict[int, Any], names: List[str], found: List[Any]) -> None:
        """Attributes of instances without a dictionary of their own, by the names that others of the type had."""
        for name in plan.names:
            try:
                item = ordinary_get(value, name)
            except AttributeError:
                continue
            # One object may have several names.
            if id(item) in left or any(item is other for other in found):
                names.append(name)
                found.append(left.pop(id(item), item))

    def dictionary(self, cls: type, plan: Plan, value: Any, left: Dict[int, Any], names: List[str], found: List[Any]) -> None:
        """Finds the dictionary of an instance among what it refers to, or the names of attributes that are not yet known."""
        has_own = any(type(item) is dict for item in left.values())
        if not has_own and (not plan.managed or plan.samples <= 0):
            return
        own = plan.get_dict(value)  # type: ignore[misc]
        if id(own) in left:
            names.append("__dict__")
            found.append(left.pop(id(own)))
            return
        if type(own) is not dict:
            return
        plan.samples -= 1
        plan.learn(cls, list(own))
        for name, item in list(dict_items(own)):
            if type(name) is str and id(item) in left:
                names.append(name)
                found.append(left.pop(id(item)))


def variables(value: Any, left: Dict[int, Any], names: List[str], found: List[Any]) -> None:
    """The variables of a suspended function, which since 3.11 has no frame object until someone asks for it."""
    attribute = FRAMES.get(type(value))
    frame = getattr(value, attribute) if attribute else None
    if frame is None or any(type(item) is types.FrameType for item in left.values()):
        return
    for name, item in dict(frame.f_locals).items():
        if id(item) in left:
            names.append(name)
            found.append(left.pop(id(item)))


FRAMES: Dict[type, str] = {types.GeneratorType: "gi_frame", types.CoroutineType: "cr_frame", types.AsyncGeneratorType: "ag_frame"}


def popped(pending: List[Any]) -> Iterator[Any]:
    while pending:
        yield pending.pop()


def external(plan: Plan, value: Any) -> str:
    try:
        return ',"x":%d' % plan.extra(value)  # type: ignore[misc]
    except ValueError:  # A closed map.
        return ""


CONTAINERS: Dict[str, Callable[[Any], Any]] = {
    "list": list.__iter__,
    "tuple": tuple.__iter__,
    "set": lambda value: set.__iter__(value) if isinstance_exactly(value, set) else frozenset.__iter__(value),
    "deque": __import__("collections").deque.__iter__,
}


def isinstance_exactly(value: Any, cls: type) -> bool:
    """As `isinstance`, without asking the object's `__class__`."""
    return cls in get_mro(type(value))


def class_words(value: type) -> str:
    module, name = type_name(value)
    return ',"v":%s' % quoted(module + "." + name)


def module_words(value: types.ModuleType) -> str:
    name = get_module_dict(value).get("__name__")
    return ',"v":%s' % quoted(name) if type(name) is str else ""


def function_words(value: Any) -> str:
    # PyPy's built-in functions are functions whose code has no file.
    if type(value) is not types.FunctionType or not hasattr(value.__code__, "co_filename"):
        return ',"v":%s' % quoted(value.__name__) if type(value) is types.BuiltinFunctionType else ""
    code = value.__code__
    return ',"v":%s' % quoted("%s (%s:%d)" % (value.__qualname__, code.co_filename, code.co_firstlineno))


def code_words(value: types.CodeType) -> str:
    return ',"v":%s' % quoted("%s (%s:%d)" % (value.co_name, value.co_filename, value.co_firstlineno))


def frame_words(value: types.FrameType) -> str:
    code = value.f_code
    return ',"v":%s' % quoted("%s (%s:%d)" % (code.co_name, code.co_filename, value.f_lineno or 0))


def generator_words(value: Any) -> str:
    for name in ("gi_code", "cr_code", "ag_code"):
        if type(value) in (types.GeneratorType, types.CoroutineType, types.AsyncGeneratorType) and hasattr(value, name):
            code = getattr(value, name)
            return ',"v":%s' % quoted("%s (%s:%d)" % (value.__qualname__, code.co_filename, code.co_firstlineno))
    return ""


get_module_dict = types.ModuleType.__dict__["__dict__"].__get__

LENGTHS: Dict[str, Callable[[Any], str]] = {
    "class": class_words,
    "module": module_words,
    "function": function_words,
    "code": code_words,
    "frame": frame_words,
    "generator": generator_words,
}


def source_names(objects: List[Any]) -> Set[str]:
    """The names that stand in the source of the program: of attributes, variables, functions, classes and modules."""
    names: Set[str] = {"__dict__"}
    pending = [value.__code__ for value in objects if type(value) is types.FunctionType]
    seen: Set[int] = set()
    while pending:
        code = pending.pop()
        if id(code) in seen:
            continue
        seen.add(id(code))
        names.update(code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars, (code.co_name, code.co_filename))
        pending.extend(part for part in code.co_consts if type(part) is types.CodeType)
    for value in objects:
        if isinstance_exactly(value, type):
            names.update(name for name in get_members(value) if type(name) is str)
            names.update(type_name(value))
        elif isinstance_exactly(value, types.ModuleType):
            names.update(name for name in get_module_dict(value) if type(name) is str)
    return names


def static_types(plans: Dict[type, Plan]) -> List[type]:
    """Types that C defines: nothing frees them."""
    return [cls for cls in plans if not get_flags(cls) & (1 << 9)]
