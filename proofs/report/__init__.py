"""Render the ledger as the project's site: evidence, course, interfaces, speed and slips, static, for the browser."""
