"""Check the claims about the shipped loops by the kernel of Rocq, a proof assistant, on a translation of their source.

`python -m proofs.rocq` translates the Python of the loops, statement by statement, lets Rocq check the theories in `theories/`
and prints each claim with the axioms that it rests on. `README.md` beside this file says what is trusted.
"""
