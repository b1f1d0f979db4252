r"""A template and values → text.

A template is parsed once into segments (`template_parser`); substitution walks over them and joins texts, without
pattern matching.  `TemplateSet` finds templates in folders.

    $name  ${name}          the value of a variable
    ${,name}  ${name,}      a list, with a comma before or after it unless it is empty
    $$                      a dollar
    $if name … $else … $endif,  $if not name … $endif
    $for item in items … $item … ${item.field} … $endfor
    $insert name            whole lines, or a list of such texts, as they are
    $# …                    a comment
    $section name           the start of a section, in files of snippets

The last five forms are *block lines*: they stand alone on their line and leave no line behind.  A reference that comes
first on its line is a *splice*: every line of its value gets the line's indentation, and each element of a list begins
a line.  Anywhere else, a list is joined by `, `.

    CodeTemplate("{\n  $body\n}").substitute(body=["int i;", "return i;"])
    # {
    #   int i;
    #   return i;
    # }

A dollar that begins none of these forms is an ordinary character.  Variables are looked up during substitution: a
missing variable is an error, unless it is in a branch that isn't taken.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Final

from opgen.diagnostics import Diagnostic, Note, Source, UserError, did_you_mean
from opgen.input_files import read_text
from opgen.output.template_parser import (
    DIRECTIVES,
    Conditional,
    Inline,
    Insertion,
    Loop,
    Reference,
    Segment,
    Splice,
    parse_sections,
    parse_template,
)

_SHORT: Final = 4096
"""Below this length, one pass over all characters is faster than several searches."""
_EMPTY: Final[Mapping[str, object]] = MappingProxyType({})


class CodeTemplate:
    """A parsed template; see the module's docstring for the language."""

    __slots__ = ("_segments", "filename", "pattern")

    def __init__(self, pattern: str, filename: str = "", segments: tuple[Segment, ...] | None = None) -> None:
        """Parse `pattern`, unless its `segments` are given; diagnostics name `filename`.  Raises UserError."""
        self.pattern: Final = pattern
        self.filename: Final = filename
        source = Source(filename or "<template>", pattern)
        self._segments: Final = parse_template(source) if segments is None else segments

    @classmethod
    def from_file(cls, filename: str | os.PathLike[str]) -> CodeTemplate:
        """Return the template in a file.  Raises UserError."""
        return cls(_read_template(Path(filename)), os.fspath(filename))

    def substitute(self, env: Mapping[str, object] | None = None, **kwargs: object) -> str:
        """Return the text with the values of `kwargs`, or else of `env`.

        Lists and tuples are spliced or joined; other values are converted with `str`.  Raises UserError with all
        errors, such as variables without a value.
        """
        scope = {**(env or _EMPTY), **kwargs} if kwargs else (_EMPTY if env is None else env)
        parts: list[str] = []
        try:
            _render(self._segments, scope, parts)
        except UserError:
            raise UserError(*_find_problems(self._segments, scope)) from None
        return "".join(parts)

    def __repr__(self) -> str:
        return f"CodeTemplate({self.pattern!r}, {self.filename!r})"


def read_sections(path: Path) -> Mapping[str, CodeTemplate]:
    """Return the sections of a file of snippets by name.  Raises UserError."""
    text, filename = _read_template(path), os.fspath(path)
    return {
        name: CodeTemplate(text, filename, segments)
        for name, segments in parse_sections(Source(filename, text)).items()
    }


@dataclass(slots=True)
class TemplateSet:
    """The templates of some folders, read on first use.

    Folders are searched in order, so a folder can replace templates of the next one.
    """

    folders: tuple[Path, ...]
    """The folders to search, as the user named them."""
    _compiled: dict[str, CodeTemplate] = field(default_factory=dict, repr=False)

    def __init__(self, *folders: str | os.PathLike[str]) -> None:
        self.folders = tuple(map(Path, folders))
        self._compiled = {}

    def get(self, name: str) -> CodeTemplate:
        """Return the template `name`, a path relative to the folders.  Raises UserError."""
        template = self._compiled.get(name)
        if template is None:
            template = self._compiled[name] = CodeTemplate.from_file(self.find(name))
        return template

    @property
    def files(self) -> tuple[str, ...]:
        """The files that were read."""
        return tuple(template.filename for template in self._compiled.values())

    def render(self, name: str, env: Mapping[str, object] = _EMPTY) -> str:
        """Return the text of the template `name`, which may also use `$generated_comment`.  Raises UserError."""
        if "generated_comment" not in env:
            env = {**env, "generated_comment": f"@generated by opgen from {name}"}
        return self.get(name).substitute(env)

    def has(self, name: str) -> bool:
        """Return whether there is a template `name`."""
        return any((folder / name).exists() for folder in self.folders)

    def find(self, name: str) -> Path:
        """Return the file of the template `name`.  Raises UserError if no folder has it."""
        places = [folder / name for folder in self.folders]
        found = next((place for place in places if place.exists()), None)
        if found is not None:
            return found
        looked = tuple(Note(f"looked for {place}") for place in places)
        near = did_you_mean(name, _names_in(self.folders))
        raise UserError(Diagnostic("template-missing", f"template '{name}' not found", None, near, looked))


def _names_in(folders: Iterable[Path]) -> Iterator[str]:
    """Yield the names of the files in `folders`, as far as they can be listed."""
    for folder in folders:
        if folder.is_dir():
            yield from (entry.name for entry in folder.iterdir())


def _read_template(path: Path) -> str:
    """Return the text of the file.  Raises UserError."""
    try:
        return read_text(path)
    except IsADirectoryError:
        problem = Diagnostic("template-unreadable", f"template '{path}' is a folder")
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        problem = Diagnostic("template-not-utf8", f"template '{path}' is not UTF-8 (line {line})")
    except FileNotFoundError:
        problem = Diagnostic("template-missing", f"template '{path}' not found")
    except OSError as error:
        problem = Diagnostic("template-unreadable", f"template '{path}' can't be read: {error.strerror}")
    raise UserError(problem)


def _render(segments: Iterable[Segment], scope: Mapping[str, object], parts: list[str]) -> None:
    """Append the text of `segments` to `parts`."""
    for segment in segments:
        if isinstance(segment, str):
            parts.append(segment)
            continue
        reference = segment.reference
        try:
            value = scope[reference.name]
        except KeyError:
            raise _unknown_variable(reference, scope) from None
        if reference.fields:
            value = _look_up_fields(reference, value)
        if isinstance(segment, Inline):
            parts.append(value if isinstance(value, str) else _joined(segment, value))
        elif isinstance(segment, Splice):
            _render_splice(value, segment.indent, parts)
        elif isinstance(segment, Insertion):
            parts += value if isinstance(value, (list, tuple)) else (str(value),)
        elif isinstance(segment, Conditional):
            _render(segment.body if bool(value) is not segment.negated else segment.otherwise, scope, parts)
        else:
            _render_loop(segment, value, scope, parts)


def _find_problems(segments: Iterable[Segment], scope: Mapping[str, object]) -> Iterator[Diagnostic]:
    """Yield the errors of all segments."""
    for segment in segments:
        try:
            _render((segment,), scope, [])
        except UserError as problem:
            yield from problem.diagnostics


def _render_loop(loop: Loop, items: object, scope: Mapping[str, object], parts: list[str]) -> None:
    if isinstance(items, str) or not isinstance(items, Iterable):
        message = f"'{'.'.join(loop.reference.path)}' is not a list: $for can't iterate over it"
        raise UserError(Diagnostic("template-not-a-list", message, loop.reference.span))
    inner = dict(scope)
    for item in items:
        inner[loop.item] = item
        _render(loop.body, inner, parts)


def _render_splice(value: object, indent: str, parts: list[str]) -> None:
    if isinstance(value, str) and value.isprintable():  # one line, as most values are
        line = value.rstrip()
        parts.append(indent + line if line else "")
        return
    # Such texts are joined only with the whole file: in a file of megabytes they are nearly everything.
    if isinstance(value, TrimmedTexts) and value and not indent and (last := str(value[-1]).rstrip()):
        parts += [text if text[-1] == "\n" else f"{text}\n" for text in map(str, value[:-1]) if text]
        parts.append(last)
    else:
        parts.append(splice(value, indent))


def splice(value: object, indent: str) -> str:
    """Return `value` as lines that begin with `indent`; the elements of a list come one below the other.

    Lines lose trailing white space and the text its trailing blank lines.  An element without text
    takes no line; a blank line within an element stays, and takes no indentation.
    """
    if isinstance(value, str):
        text = value.rstrip()
    else:
        items = value if isinstance(value, (list, tuple)) else (value,)
        text = "\n".join([item.removesuffix("\n") for item in map(str, items) if item]).rstrip()
    if not isinstance(value, TrimmedTexts) and not _is_trimmed(text):
        # Not splitlines(): C++ and Python know fewer ends of lines than Unicode does.
        text = "\n".join([line.rstrip() for line in text.split("\n")]).rstrip()
    if not indent or not text:
        return text
    if "\n\n" in text or text.startswith("\n"):
        return "\n".join([indent + line if line else "" for line in text.split("\n")])
    return indent + text.replace("\n", "\n" + indent)


class TrimmedTexts(list[str]):
    """Texts without trailing white space in any line, which are spliced without splitting them."""


def mark_if_trimmed(texts: list[str]) -> list[str]:
    """Return the texts, as `TrimmedTexts` if they are trimmed; for lists that several files splice."""
    whole = "\n".join(map(str, texts))
    return TrimmedTexts(texts) if _is_trimmed(whole) and whole[-1:] not in (" ", "\t") else texts


def _is_trimmed(text: str) -> bool:
    """Return whether no line has white space at its end; False if in doubt.  Faster than splitting the text."""
    if len(text) < _SHORT:
        return " \n" not in text and text.replace("\n", "").isprintable()
    return (
        text.isascii()
        and text.rfind(" \n") < 0  # a search for two characters is twice as fast from the end
        and ("\t" not in text or "\t\n" not in text)  # a search for one character is much faster
        and "\r" not in text
        and "\v" not in text
        and "\f" not in text
        and "\x1c" not in text
        and "\x1d" not in text
        and "\x1e" not in text
        and "\x1f" not in text
    )


def _joined(segment: Inline, value: object) -> str:
    if not isinstance(value, (list, tuple)):
        return str(value)
    if not value:
        return ""
    before = ", " if segment.comma_before else ""
    after = ", " if segment.comma_after else ""
    return before + ", ".join(map(str, value)) + after


def _look_up_fields(reference: Reference, value: object) -> object:
    """Return the value of the fields that `reference` takes of the variable's `value`."""
    for name in reference.fields:
        try:
            # Most mappings are dictionaries, which isinstance() recognizes faster.
            value = value[name] if isinstance(value, (dict, Mapping)) else getattr(value, name)
        except (KeyError, AttributeError):
            raise _unknown_field(reference, name, value) from None
    return value


def _unknown_variable(reference: Reference, scope: Mapping[str, object]) -> UserError:
    name = reference.name
    # A misspelt directive reads as a variable, so the directives are candidates too.
    near = did_you_mean(name, (*scope, *DIRECTIVES))
    return UserError(Diagnostic("template-unknown-variable", f"unknown variable '{name}'", reference.span, near))


def _unknown_field(reference: Reference, name: str, value: object) -> UserError:
    legal = list(value) if isinstance(value, Mapping) else [a for a in dir(value) if not a.startswith("_")]
    message = f"unknown field '{name}' in '{'.'.join(reference.path)}'"
    near = did_you_mean(name, [word for word in legal if isinstance(word, str)])
    return UserError(Diagnostic("template-unknown-field", message, reference.span, near))
