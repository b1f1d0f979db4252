class Toy:
    CHOICES = ("large", "small")

    def get_name(self):
        return "toy"

    def get_best_choices(self, context):
        if context.get_value("m") <= 32:
            if str(context.get_value("dtype")) != "torch.float32":
                return [(0.9, 0), (0.1, 1)]
            return None
        return [(1.0, 1)]
