"""Offer the training program as scikit-learn estimators."""
