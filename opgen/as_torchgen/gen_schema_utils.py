"""torchgen's `gen_schema_utils`: schemas of example values, as opgen infers them."""

from __future__ import annotations

from opgen.gen_schema_utils import ArgumentGen as ArgumentGen
from opgen.gen_schema_utils import FunctionSchemaGen as FunctionSchemaGen
from opgen.gen_schema_utils import ReturnGen as ReturnGen
from opgen.gen_schema_utils import TypeGen as TypeGen

__all__ = ["ArgumentGen", "FunctionSchemaGen", "ReturnGen", "TypeGen"]
