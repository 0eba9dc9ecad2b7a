"""Rows that stand elsewhere in the fork than upstream: remembered in sync.toml, in `[[ci.places]]`."""

from sync_tools.config import Place, parse


def remembered(content: str, place: Place, where: str = "sync.toml") -> str:
    """A sync.toml's text with the place in it: comments and layout stay, an older place of the same row is replaced.

    A row that was moved before and is moved on keeps upstream's job; one that is moved back is forgotten.
    Raises SyncError for a file that is no valid configuration.
    """
    import tomlkit

    parse(content, where)
    document = tomlkit.parse(content)
    ci = document.setdefault("ci", tomlkit.table(is_super_table=True))
    places = ci.setdefault("places", tomlkit.aot())
    before = [
        at
        for at, known in enumerate(places)
        if known.get("test_file") == place.test_file and place.job in (known.get("job"), known.get("to"))
    ]
    upstream_job = places[before[0]]["job"] if before else place.job
    for at in reversed(before):
        del places[at]
    if upstream_job != place.to:
        values = {"test_file": place.test_file, "job": upstream_job, "to": place.to, "why": place.why}
        table = tomlkit.inline_table() if isinstance(places, tomlkit.items.Array) else tomlkit.table()
        table.update({key: value for key, value in values.items() if value})
        if isinstance(table, tomlkit.items.Table):
            table.add(tomlkit.nl())
        places.append(table)
    elif not places:
        ci.remove("places")
    return tomlkit.dumps(document).rstrip("\n") + "\n"
