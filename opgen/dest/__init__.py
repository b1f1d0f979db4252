"""A `Program` and the options of a run → file values, one family of output files a module.

Each family has an emitter for its headers and one for its sources, as far as it has both:

    def emit_…(program: Program, options: Options, templates: TemplateSet) -> Iterator[OutputFile]

Emitters compute values; the C++ around them stands in templates.  None of them reads or writes a
file, looks at another's output, or changes what it was given, so they can run in any order.
"""
