"""How the objects of a type are read without running code of the program.

Everything goes through descriptors of built-in types, never through attributes of an object, which a
class may define anew.
"""

import collections
import gc
import mmap
import sys
import types
from typing import Any, Callable, Dict, List, Mapping, Optional, Tuple

get_flags = type.__dict__["__flags__"].__get__
get_name = type.__dict__["__qualname__"].__get__

_mro = type.__dict__["__mro__"].__get__
_members = type.__dict__["__dict__"].__get__


def get_mro(cls: type) -> Tuple[type, ...]:
    """A class and its bases in the order of resolution. Types that C has not made ready have none."""
    return _mro(cls) or (cls,)


def get_members(cls: type) -> Mapping[str, Any]:
    """What a class itself defines."""
    return _members(cls) or {}


# Flags of types: `Include/object.h` of CPython. MANAGED_DICT since 3.11.
HEAP_TYPE = 1 << 9
HAS_GC = 1 << 14
MANAGED_DICT = 1 << 4

# Bytes before an object that the garbage collector knows: `PyGC_Head`.
GC_HEAD = 16 if sys.maxsize > 2**32 else 8

# What a type is to the reader. The first of them in the order of resolution decides.
KINDS: Dict[type, str] = {
    str: "str",
    bytes: "bytes",
    bytearray: "bytes",
    bool: "int",
    int: "int",
    float: "float",
    dict: "dict",
    list: "list",
    tuple: "tuple",
    set: "set",
    frozenset: "set",
    collections.deque: "deque",
    type: "class",
    types.ModuleType: "module",
    types.FrameType: "frame",
    types.CodeType: "code",
    types.FunctionType: "function",
    types.BuiltinFunctionType: "function",
    types.MethodType: "method",
    type((lambda x: lambda: x)(0).__closure__[0]): "cell",  # type: ignore[index]
    types.GeneratorType: "generator",
    types.CoroutineType: "generator",
    types.AsyncGeneratorType: "generator",
    BaseException: "exception",
    types.TracebackType: "traceback",
    type(None): "none",
}

# Attributes that C computes, but that return an object which is there already.
GETTERS: Dict[type, Tuple[str, ...]] = {
    types.FunctionType: ("__code__", "__defaults__", "__kwdefaults__"),
    types.GeneratorType: ("gi_yieldfrom",),
    types.CoroutineType: ("cr_await",),
    types.AsyncGeneratorType: ("ag_await",),
    BaseException: ("__traceback__", "__context__", "__cause__", "args"),
    types.TracebackType: ("tb_next",),
    types.FrameType: ("f_back",),
}
for _type, _names in list(GETTERS.items()):
    GETTERS[_type] = tuple(name for name in _names if name in get_members(_type))

# Objects of these types refer to others, but not in a way that the garbage collector can follow.
CODE_PARTS = ("co_consts", "co_names", "co_filename", "co_name", "co_qualname", "co_linetable", "co_exceptiontable")

# A fork can give each instance a dictionary of its own. A program that goes on must not grow: this many of a
# type get one, for the names of their attributes.
MOST_SAMPLES = 3


def lookup(cls: type, name: str) -> Any:
    """The attribute of a class or its bases as it was defined; None if there is none."""
    for base in get_mro(cls):
        members = get_members(base)
        if name in members:
            return members[name]
    return None


class Plan:
    """What is known about the instances of a type."""

    __slots__ = ("number", "kind", "size", "members", "names", "excluded", "get_dict", "managed", "samples", "extra", "is_heap", "exact", "unlimited", "array")

    def __init__(self, cls: type, number: int, unlimited: bool) -> None:
        mro = get_mro(cls)
        flags = get_flags(cls)
        self.number = number
        self.kind = next((KINDS[base] for base in mro if base in KINDS), "object")
        self.exact = cls in KINDS
        self.is_heap = bool(flags & HEAP_TYPE)
        self.size = size_function(cls, flags)
        # PyPy has no dictionary in any instance either.
        self.managed = bool(flags & MANAGED_DICT) or sys.implementation.name == "pypy"
        self.unlimited = unlimited
        self.samples = sys.maxsize if unlimited else MOST_SAMPLES
        self.names: List[str] = []
        self.excluded = set()  # type: ignore[var-annotated]
        self.get_dict: Optional[Callable[[Any], Any]] = None
        self.members: List[Tuple[str, Callable[[Any], Any]]] = []
        self.extra = external_function(mro)
        self.array = NumpyArrays.of(cls)
        if self.array is not None:
            self.members.append(("base", self.array.get_base))
        for base in mro:
            for name, member in get_members(base).items():
                if type(member) is types.MemberDescriptorType:
                    self.members.append((name, member.__get__))
                elif name == "__dict__" and self.get_dict is None and type(member) is types.GetSetDescriptorType:
                    self.get_dict = member.__get__
            for name in GETTERS.get(base, ()):
                self.members.append((name, get_members(base)[name].__get__))

    def learn(self, cls: type, names: List[str]) -> None:
        """Adds names of attributes. Those that a descriptor of the class serves cannot be asked for: that would run it."""
        for name in names:
            if type(name) is not str or name in self.excluded or name in self.names:
                continue
            shadowed = lookup(cls, name)
            if shadowed is not None and lookup(type(shadowed), "__get__") is not None:
                self.excluded.add(name)
            else:
                self.names.append(name)


def size_function(cls: type, flags: int) -> Callable[[Any], int]:
    """What tells the bytes of an instance: `sys.getsizeof`, unless the class computes its size in Python."""
    if sys.implementation.name == "pypy":
        return gc.get_rpy_memory_usage  # type: ignore[attr-defined,no-any-return]
    if type(lookup(cls, "__sizeof__")) is types.MethodDescriptorType:
        return sys.getsizeof
    head = GC_HEAD if flags & HAS_GC else 0
    own_size = object.__sizeof__
    return lambda instance: own_size(instance) + head


def external_function(mro: Tuple[type, ...]) -> Optional[Callable[[Any], int]]:
    """What tells the bytes that an instance holds outside of Python's memory."""
    return mmap.mmap.__len__ if mmap.mmap in mro else None


class NumpyArrays:
    """How to read what an array of NumPy refers to, which it tells the garbage collector nothing about."""

    def __init__(self, cls: type, array: type) -> None:
        # The array whose data a view shows.
        self.get_base = get_members(array)["base"].__get__
        self._get_type = get_members(array)["dtype"].__get__
        self._get_flat = get_members(array)["flat"].__get__
        # Subclasses may define in Python how they are iterated.
        self._is_exact = cls is array

    @classmethod
    def of(cls, candidate: type) -> "Optional[NumpyArrays]":
        """None if a type is no array. NumPy is not imported for this."""
        module = sys.modules.get("numpy")
        array = types.ModuleType.__dict__["__dict__"].__get__(module).get("ndarray") if type(module) is types.ModuleType else None
        return cls(candidate, array) if type(array) is type and array in get_mro(candidate) else None

    def elements(self, value: Any) -> List[Any]:
        """The objects in an array of objects that is no view."""
        is_owner = self._is_exact and self.get_base(value) is None
        return list(self._get_flat(value)) if is_owner and self._get_type(value).kind == "O" else []


def type_name(cls: type) -> Tuple[str, str]:
    """The module of a class, and its name there."""
    module = get_members(cls).get("__module__")
    if type(module) is not str:
        module = "builtins"
        # Types that C defines carry their module in their name, which `__module__` of `type` takes apart.
        if not get_flags(cls) & HEAP_TYPE:
            found = type.__dict__["__module__"].__get__(cls)
            module = found if type(found) is str else module
    return module, get_name(cls)
