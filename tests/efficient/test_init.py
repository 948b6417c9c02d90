"""Names of the package."""

import pytest

import efficient


def test_estimators_are_imported_when_asked_for():
    from efficient.estimators.linear import CASGDClassifier

    assert efficient.CASGDClassifier is CASGDClassifier
    assert "CASGDClassifier" in dir(efficient)
    with pytest.raises(AttributeError, match="no attribute 'CASGDTransformer'"):
        efficient.CASGDTransformer  # noqa: B018
