"""Token F1 of short answers, as for SQuAD (arXiv:1606.05250) and HotpotQA (arXiv:1809.09600)."""

import string
from collections import Counter
from typing import Any

_ARTICLES = frozenset({"a", "an", "the"})
_WHOLE = frozenset({"yes", "no", "noanswer"})
_WITHOUT_PUNCTUATION = str.maketrans("", "", string.punctuation)
_NOTHING = (0, 0, 0)


def normalize_answer(s: str) -> str:
    """In lower case, without punctuation and articles, single spaces."""
    words = s.lower().translate(_WITHOUT_PUNCTUATION).split()
    return " ".join(word for word in words if word not in _ARTICLES)


def f1_score(prediction: str | None, ground_truth: Any) -> tuple[float, float, float]:
    """(F1, precision, recall) of the words. yes, no and noanswer are right or wrong as a whole."""
    if prediction is None:
        return _NOTHING
    given, right = normalize_answer(prediction), normalize_answer(str(ground_truth))
    if given != right and not _WHOLE.isdisjoint({given, right}):
        return _NOTHING
    given_words, right_words = given.split(), right.split()
    common = (Counter(given_words) & Counter(right_words)).total()
    if common == 0:
        return _NOTHING
    precision, recall = common / len(given_words), common / len(right_words)
    return 2 * precision * recall / (precision + recall), precision, recall
