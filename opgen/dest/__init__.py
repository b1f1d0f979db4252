"""A `Program` and the options of a run → file values, one family of output files per module.

Each family has an emitter for its headers and one for its sources, if it has both:

    def emit_…(program: Program, options: Options, templates: TemplateSet) -> Iterator[OutputFile]

Emitters compute values; the surrounding C++ is in templates.  Emitters don't read or write files, use
each other's output or mutate their input, so they can run in any order.
"""
