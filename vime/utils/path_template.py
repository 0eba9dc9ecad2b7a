"""Names of files with places for numbers, such as dump/{rollout_id}.pt. Not a format: other braces stay as they are."""


def filled(template: str, **numbers: object) -> str:
    """`template` with each `{name}` of `numbers` in its place."""
    for name, number in numbers.items():
        template = template.replace("{" + name + "}", str(number))
    return template
