class Toy:
    CHOICES = ("large", "small")

    def get_name(self):
        return "toy"

    def get_best_choices(self, context):
        if context.get_value("m") <= 32:
            return [(0.9, 0)]
        return [(1.0, 1)]
