import torch


def scale(input, by:
    return input
