from collections import Counter


def f1_score(prediction: str, label: str) -> float:
    """Word overlap of prediction and label, as the harmonic mean of precision and recall."""
    said, wanted = prediction.lower().split(), str(label).lower().split()
    common = sum((Counter(said) & Counter(wanted)).values())
    return 2 * common / (len(said) + len(wanted)) if common else 0.0
