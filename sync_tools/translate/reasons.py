"""Why a place was recognised and not translated: five kinds, of which each site has one."""

from enum import StrEnum


class Reason(StrEnum):
    """The value is what `--json` says; the sentence is in `SENTENCES`."""

    NO_COUNTERPART = "no counterpart"
    REFUSED = "refused input"
    PROVENANCE = "provenance ends"
    TOKENIZER = "no tokenizer"
    OTHER_SERVICE = "another service"


SENTENCES = {
    Reason.NO_COUNTERPART: "vLLM has nothing that could stand in this place: no such flag, route, module, metric, variable "
    "or shape of an answer, or only a protocol of several calls.",
    Reason.REFUSED: "vLLM's token route refuses what is sent: images and other media, sessions, hidden states.",
    Reason.PROVENANCE: "Where the value comes from or goes to cannot be seen in this module: an opaque address, a body "
    "made elsewhere, an answer decoded elsewhere, a sender that is not defined here, a file that does not parse.",
    Reason.TOKENIZER: "The prompt is text, the token route takes token ids, and no tokenizer is in reach.",
    Reason.OTHER_SERVICE: "The route is another server's, or is served here: an engine of its own, or a fake of one.",
}
