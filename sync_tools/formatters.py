"""stand-in until the adapter lands"""


def format_bytes(path, data, formatters):
    return data
