"""Writes each workflow beside its template. Run it after every change of a template."""

from pathlib import Path

from jinja2 import Environment, FileSystemLoader

BANNER = "# Generated from {template}; run the generator beside it, don't edit by hand.\n\n"


def main(folder: Path = Path(__file__).parent) -> None:
    brackets = {"block_start_string": "<%", "block_end_string": "%>"}
    brackets |= {"variable_start_string": "<<", "variable_end_string": ">>"}
    env = Environment(loader=FileSystemLoader(str(folder)), **brackets)
    for path in sorted(folder.glob("*.yml.j2")):
        text = BANNER.format(template=path.name) + env.get_template(path.name).render()
        path.with_suffix("").write_bytes(text.encode())


if __name__ == "__main__":
    main()
