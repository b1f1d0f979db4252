"""`opgen schema KIND`: print the JSON Schema of a kind of YAML file, for editors.

    python -m opgen schema native_functions --source-path ops > native_functions.schema.json

With `--source-path` or `--from-torch`, the tags that operators may have are those declared there.
"""

from __future__ import annotations

import argparse
from typing import Final

from opgen.desk.json_schema import KINDS, render_schema
from opgen.diagnostics import Diagnostics
from opgen.frontend.tags import load_tags
from opgen.run.command import Command, Group, Result
from opgen.run.flags import add_definitions, add_output_flags
from opgen.run.inputs import find_inputs, packaged_folder


def add_flags(parser: argparse.ArgumentParser) -> None:
    """Add the kind of file, and where tags are declared."""
    parser.add_argument("kind", choices=KINDS, nargs="?", default=KINDS[0], help="default: %(default)s")
    add_definitions(parser, folder="folder of tags.yaml (native/tags.yaml); default: opgen's own tags")
    add_output_flags(parser, of_torch=False)


def load(options: argparse.Namespace, log: Diagnostics) -> Result | None:
    """Return the schema; None, with errors logged, if the tags can't be read."""
    source = options.source_path
    if source is not None and not source.is_dir():
        find_inputs(source, log)  # reports that the folder is missing, and the nearest one
        return None
    own = None if source is None else source / "native" / "tags.yaml"
    inputs = find_inputs(None, log, from_torch=options.from_torch) if own is None or not own.exists() else None
    tags = own if own is not None and own.exists() else inputs.tags if inputs else packaged_folder("ATen")
    known = {} if log.has_errors else {tag.name: tag.description for tag in load_tags(tags, log).values()}
    return None if log.has_errors else Result(render_schema(options.kind, known))


COMMAND: Final = Command(
    name="schema",
    group=Group.OPERATORS,
    summary="print the JSON Schema of a kind of YAML file, for editors",
    produces="Prints JSON, and writes nothing.",
    add_flags=add_flags,
    load=load,
)
