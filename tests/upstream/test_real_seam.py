"""The seam sites of the real upstream: nearly all translated, few left to a person, none passed over in silence."""

import json

import pytest

from sync_tools.translate.reasons import Reason


@pytest.mark.upstream
def test_the_share_of_translated_sites(sync, slime):
    said = sync("seam", "sites", "--at", "624b824a8", "--json", upstream=slime)
    value = json.loads(said.out)
    assert said.code == 0 and value["missed"] == []
    assert value["share"] >= 0.95 and value["sites"] > 1200
    assert len(value["unresolved"]) <= 40
    assert {site["reason"] for site in value["unresolved"]} <= {r.value for r in Reason}
