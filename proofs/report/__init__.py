"""Render the ledger as one page for the browser, with formulas and pictures, that loads nothing but itself."""
