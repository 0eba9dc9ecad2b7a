"""python ci_templates/render.py: writes .github/workflows from the templates beside this file."""

from pathlib import Path

import jinja2

HERE = Path(__file__).parent
BANNER = "# Generated from {template}; run the generator beside it, don't edit by hand.\n\n"


def main() -> None:
    env = jinja2.Environment(
        loader=jinja2.FileSystemLoader(str(HERE)),
        variable_start_string="<<",
        variable_end_string=">>",
        block_start_string="<%",
        block_end_string="%>",
    )
    for template in HERE.glob("*.yml.j2"):
        target = HERE.parent / ".github" / "workflows" / template.stem
        text = BANNER.format(template=template.name) + env.get_template(template.name).render()
        target.write_bytes(text.encode())


if __name__ == "__main__":
    main()
