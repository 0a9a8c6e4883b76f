"""Systems made from a class and the user's settings, and objects of the user's own.

An own object is named by its place in Python: ``module:attribute``.
"""

import ast
import inspect
import json
import re
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from hashlib import sha256
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, get_args

from pronominal.adapters.catalogue.systems import SYSTEMS
from pronominal.adapters.contract.prints import prints_on_stderr
from pronominal.adapters.contract.systems import System, kind_of
from pronominal.checksums import file_sha256
from pronominal.errors import THIRD_PARTY_ERRORS, InputError, raised
from pronominal.names import NAME, nearest_name

_PLACE = re.compile(r"[^\W\d]\w*(\.\w+)*:[^\W\d]\w*(\.\w+)*")
NOT_THE_FILE = "name the module, not the file: {}"
NUMBERS = {int: "a whole number", float: "a number", bool: "true or false"}
"""What a setting may want that is no word -> how that is called."""

_ANY_NUMBER = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)


def is_place(name: str) -> bool:
    """Say whether a system's name is a place in Python.

    >>> is_place("mine:System"), is_place("lingmess"), is_place("http://localhost:8000")
    (True, False, False)
    """
    return _PLACE.fullmatch(name) is not None


def place_in_file(name: str) -> str | None:
    """Return the place that is meant where the file of a module is named; None where none is.

    >>> place_in_file("sub/mine.py:System"), place_in_file("../mine.py:System")
    ('sub.mine:System', None)
    """
    file, _, attribute = name.replace("\\", "/").removeprefix("./").partition(".py:")
    place = f"{file.replace('/', '.')}:{attribute}"
    return place if is_place(place) else None


def places_in(module: str) -> list[str]:
    """Return the places of the classes that a file in the current directory states.

    The file is named as a module is, or with its ending; it is read and not imported.
    """
    module = module.removesuffix(".py")
    classes = [one for one in _statements(Path(f"{module}.py")) if isinstance(one, ast.ClassDef)]
    places = [f"{module}:{one.name}" for one in classes if not one.name.startswith("_")]
    return [*filter(is_place, places)]


def load_object(place: str, checkpoint: str | None, settings: Mapping[str, Any]) -> System:
    """Return the system at a place.

    Args:
        place: ``module:attribute``: a system, or the class or function that makes it. Modules in
            the current directory are found, too.
        checkpoint: given to the class or function as ``checkpoint``.
        settings: its other keywords.

    Raises:
        InputError: there is no such place, or what is there is no system.
    """
    target = object_at(place)
    given = dict(settings) | ({} if checkpoint is None else {"checkpoint": checkpoint})
    if inspect.isclass(target) or inspect.isroutine(target):
        try:
            target = instantiate(place, target, given)
        except InputError:
            raise
        except THIRD_PARTY_ERRORS as error:
            raise InputError(
                f"{place} cannot be made: {raised(error)}", cure="see it with --debug"
            ) from error
    elif given:
        raise InputError(
            f"{place} is made already and takes no settings", cure="name its class instead"
        )
    kind_of(target)
    system: System = target
    return system


def instantiate(
    name: str, maker: Callable[..., Any], settings: Mapping[str, Any], given: str | None = None
) -> Any:
    """Call a class or function with settings, of which `given` also stands after ``NAME=``.

    Raises:
        InputError: it has no such setting, needs another, or cannot be made with these values.
    """
    known = inspect.signature(maker).parameters
    takes_any = any(one.kind is inspect.Parameter.VAR_KEYWORD for one in known.values())
    for setting in () if takes_any else settings.keys() - known:
        cure = nearest_name(setting, known) if known else "leave it out"
        raise InputError(f"{name} has no setting '{setting}'", cure=cure)
    for setting, value in settings.items():
        if setting in known:
            _refuse_no_number(name, setting, value, known[setting].annotation)
    for setting, one in known.items():
        optional = one.default is not one.empty or one.kind in _ANY_NUMBER
        if setting not in settings and not optional:
            short = f"write {name}={setting.upper()}, or " if setting == given else ""
            raise InputError(
                f"{name} needs the setting '{setting}'",
                cure=f"{short}add --set {setting}=VALUE, or a line in its table of a systems file",
            )
    try:
        with prints_on_stderr():
            return maker(**settings)
    except TypeError as error:
        values = ", ".join(f"{key} = {value!r}" for key, value in settings.items())
        raise InputError(
            f"{name} cannot be made with {values or 'no settings'} ({error})",
            cure="give values of the right type",
        ) from error


def _refuse_no_number(name: str, setting: str, value: Any, annotation: Any) -> None:
    """Raise `InputError` for a word, say, where a class wants a number."""
    wanted = get_args(annotation) if isinstance(annotation, UnionType) else (annotation,)
    numbers = all(kind in (*NUMBERS, NoneType) for kind in wanted)
    if numbers and isinstance(value, str | bool) and type(value) not in wanted:
        words = " or ".join(word for kind, word in NUMBERS.items() if kind in wanted)
        raise InputError(f"{name}'s {setting} is {value!r}", cure=f"give {words}")


def source_digest(place: str) -> str | None:
    """Return the SHA-256 of the file of a place's module, loaded or not; None where it has none.

    It belongs to what identifies a run: answers of earlier code are not those of this one.
    """
    file = _source(place)
    return None if file is None else file_sha256(file)


def default_label(name: str) -> str:
    """Return how a system is called in tables where the user does not say it.

    One of the user's own is called by its ``name``, as its object is, where its class states it as
    a plain string: the module is read and not imported. Otherwise by its place in the module.
    """
    if not is_place(name):
        return name
    attribute = name.partition(":")[2]
    return _stated_name(_source(name), attribute) or attribute


def _stated_name(file: Path | None, kind: str) -> str | None:
    parsed = [] if file is None else _statements(file)
    bodies = (node.body for node in parsed if isinstance(node, ast.ClassDef)
              and node.name == kind)  # fmt: skip
    for statement in (statement for body in bodies for statement in body):
        match statement:
            case (
                ast.Assign(targets=[ast.Name(id="name")], value=ast.Constant(value=str(label)))
                | ast.AnnAssign(target=ast.Name(id="name"), value=ast.Constant(value=str(label)))
            ) if NAME.fullmatch(label):
                return label
    return None


def _statements(file: Path) -> list[ast.stmt]:
    try:
        return ast.parse(file.read_bytes()).body
    except (OSError, SyntaxError, ValueError, RecursionError):
        return []  # loading it will say what is wrong


def _source(place: str) -> Path | None:
    module = place.partition(":")[0]
    file = getattr(sys.modules.get(module), "__file__", None)
    if module not in sys.modules:
        _look_here()
        with suppress(ImportError, ValueError):
            file = getattr(find_spec(module), "origin", None)
    return None if file is None or not Path(file).is_file() else Path(file)


def declared_settings(system: object) -> dict[str, Any] | None:
    """Return what an object says it was made with: its ``settings``, where JSON can hold them."""
    settings = getattr(system, "settings", None)
    if not isinstance(settings, Mapping):
        return None
    try:
        read = json.loads(json.dumps({**settings}, allow_nan=False))
    except (TypeError, ValueError, RecursionError):
        return None
    return dict(read)


def is_code_alone(system: object) -> bool:
    """Whether an object holds nothing, and its class is of a file and inherits nothing.

    What it inherits may stand in another file, or hold a value, as a list does. Attributes that the
    class was given at run time are not seen.
    """
    kind = type(system)
    alone = kind.__mro__ == (kind, object) and "<locals>" not in kind.__qualname__
    of_file = alone and source_digest(f"{kind.__module__}:")
    return bool(of_file) and getattr(system, "__dict__", None) == {}


def class_digest(kind: type) -> str | None:
    """Return the SHA-256 of the file of a class, or of its methods' source where there is none.

    Cells of a notebook are in no file, but their lines are kept; None where no line is, as for
    what was typed at a prompt. Functions that the methods call are no part of it.
    """
    of_file = source_digest(f"{kind.__module__}:{kind.__name__}")
    if of_file is not None:
        return of_file
    methods = [
        member
        for one in kind.__mro__
        for member in vars(one).values()
        if inspect.isfunction(member) and one.__module__ == kind.__module__
    ]
    try:
        lines = "".join(map(inspect.getsource, methods))
    except (OSError, TypeError):
        return None
    return sha256(lines.encode()).hexdigest() if lines else None


def _look_here() -> None:
    """Let modules in the current directory be found, for good: a system may import more later."""
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)


def object_at(place: str) -> Any:
    """Return what is at a place, ``module:attribute``; `InputError` if there is nothing."""
    module, _, path = place.partition(":")
    _look_here()
    try:
        with prints_on_stderr():
            target: Any = import_module(module)
    except ModuleNotFoundError as error:
        if error.name is not None and f"{module}.".startswith(f"{error.name}."):
            cure = _weights_meant(place) or "go to the folder that holds it, or install it"
            if meant := place_in_file(place):
                cure = NOT_THE_FILE.format(meant)
            raise InputError(f"there is no module {module}", cure=cure) from error
        raise InputError(
            f"{module} needs the package {error.name}", cure="install it beside pronominal"
        ) from error
    except THIRD_PARTY_ERRORS as error:
        raise InputError(
            f"{module} cannot be imported: {raised(error)}", cure="see it with --debug"
        ) from error
    for name in path.split("."):
        if not hasattr(target, name):
            public = [other for other in vars(target) if not other.startswith("_")]
            cure = _weights_meant(place) or nearest_name(name, public)
            raise InputError(f"{place}: there is no {name}", cure=cure)
        target = getattr(target, name)
    return target


def _weights_meant(place: str) -> str | None:
    """Return what to write where a system of ours stands in the place of a module."""
    system, _, weights = place.partition(":")
    return f"for {system} with weights write {system}={weights}" if system in SYSTEMS else None
