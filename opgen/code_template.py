"""The public name of the template engine, under the module path that torchgen's users know.

    from opgen.code_template import CodeTemplate
    CodeTemplate("f(${args});").substitute(args=["a", "b"])     # 'f(a, b);'

The language and the engine are `opgen.output.template`'s.
"""

from __future__ import annotations

from opgen.output.template import CodeTemplate

__all__ = ["CodeTemplate"]
