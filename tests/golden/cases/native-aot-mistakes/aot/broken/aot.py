ATEN_OP = "best
