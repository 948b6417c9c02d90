"""Parse ordinary lines of svmlight text in a compiled loop, which stops before any other line.

A decimal number m·10^e becomes the float64 nearest to it by one multiplication in twice the precision. Where the error of that
might matter the number is not ordinary: what the loop returns is what Python's `float` returns, to the bit.
"""

from fractions import Fraction

import numpy as np

from ..kernels.compiler import INLINED, register_jitable

ONE = np.uintp(1)
TAB, NEWLINE, RETURN, SPACE, HASH, PLUS, MINUS, POINT, ZERO, COLON, E, LOWER_E, Q = b"\t\n\r #+-.0:Eeq"

LARGEST_EXPONENT = 60
"""Exponents of ten, up and down, for which there is a power in the table."""

DIGITS = 19
"""Digits that surely fit an unsigned integer of 64 bits."""

SPLIT = 134217729.0
"""2²⁷ + 1: splits a float64 into two of half the length (Dekker)."""

ERROR = 2.0**-99
"""Bound of the relative error of the product; it is below 6 · 2⁻¹⁰⁵, from the three roundings and the power's low part."""


def _powers() -> np.ndarray:
    exact = [Fraction(10) ** e for e in range(-LARGEST_EXPONENT, LARGEST_EXPONENT + 1)]
    return np.array([(float(power), float(power - Fraction(float(power)))) for power in exact])


POWERS = _powers()
"""Powers of ten, each as the float64 nearest to it and the one nearest to the rest."""


@register_jitable(**INLINED)
def is_blank(byte):
    return byte == SPACE or (TAB <= byte <= RETURN and byte != NEWLINE)


@register_jitable(**INLINED)
def after_blanks(text, i, stop):
    while i < stop and is_blank(text[i]):
        i = i + ONE
    return i


@register_jitable(**INLINED)
def is_end(text, i, stop):
    """True at the end of a line, or of what comes before its comment."""
    return i >= stop or text[i] == NEWLINE or text[i] == HASH


@register_jitable(**INLINED)
def digits(text, i, stop, number, count):
    """Append decimal digits to a number, as many as it holds, and count them; leading zeros do not count."""
    while i < stop and ZERO <= text[i] < COLON:
        if count < DIGITS:
            number = number * np.uint64(10) + np.uint64(text[i] - ZERO)
        count = count + (number != 0)
        i = i + ONE
    return i, number, count


@register_jitable(**INLINED)
def scaled(m, e, powers):
    """Round m·10^e to the nearest float64; return also whether that is sure."""
    a, b = float(m >> np.uint64(32)) * 4294967296.0, float(m & np.uint64(4294967295))
    x = a + b
    x_low = b - (x - a)  # m = x + x_low, exactly
    y, y_low = powers[e + LARGEST_EXPONENT, 0], powers[e + LARGEST_EXPONENT, 1]
    product = x * y
    c, d = SPLIT * x, SPLIT * y
    x1, y1 = c - (c - x), d - (d - y)
    x2, y2 = x - x1, y - y1
    rest = ((x1 * y1 - product) + x1 * y2 + x2 * y1) + x2 * y2  # x·y − product, exactly
    rest = rest + (x * y_low + x_low * y)
    low, high = product + (rest - ERROR * product), product + (rest + ERROR * product)
    return low, low == high


@register_jitable(**INLINED)
def decimal(text, i, stop, powers):
    """Parse a number up to a blank or an end; return the place after it, its value, and whether it is an ordinary one."""
    negative = i < stop and text[i] == MINUS
    if i < stop and (text[i] == MINUS or text[i] == PLUS):
        i = i + ONE
    start = i
    i, m, count = digits(text, i, stop, np.uint64(0), 0)
    length, e = i - start, np.int64(0)
    if i < stop and text[i] == POINT:
        i = i + ONE
        start = i
        i, m, count = digits(text, i, stop, m, count)
        length = length + (i - start)
        e = -np.int64(i - start)
    fine = length > 0 and count <= DIGITS
    if i < stop and (text[i] == E or text[i] == LOWER_E):
        i = i + ONE
        down = i < stop and text[i] == MINUS
        if i < stop and (text[i] == MINUS or text[i] == PLUS):
            i = i + ONE
        start = i
        i, size, exponent_count = digits(text, i, stop, np.uint64(0), 0)
        fine = fine and i > start and exponent_count <= 3
        e = e - np.int64(size) if down else e + np.int64(size)
    fine = fine and -LARGEST_EXPONENT <= e <= LARGEST_EXPONENT and (is_end(text, i, stop) or is_blank(text[i]))
    value = 0.0
    if fine:
        value, fine = scaled(m, e, powers)
    return i, -value if negative else value, fine


@register_jitable(**INLINED)
def after_query(text, i, stop):
    """Pass over `qid:7`; return the place after it, and whether it looks like that."""
    start, colon = i, False
    while i < stop and not (is_end(text, i, stop) or is_blank(text[i])):
        colon = colon or text[i] == COLON
        i = i + ONE
    return i, colon and text[start + ONE] == ord("i") and text[start + ONE + ONE] == ord("d")


def parse_lines(text, place, first, last, powers, labels, ends, columns, values, row, e):
    """Parse lines into examples from number `row` on and their entries from number e on, up to the end or an unusual line.

    Parameters
    ----------
    text : bytes of whole lines
    place : where to begin
    first, last : the numbers of the first column and of the last one that is allowed
    powers : `POWERS`
    labels, ends : a number for each example: its label, and where its entries end
    columns, values : the entries; columns count from 0 on

    Returns
    -------
    place, row, e : where it stopped: after the last line, or before an unusual one

    Cost: O(1) a byte.
    """
    i, stop = np.uintp(place), np.uintp(len(text))
    while i < stop:
        start, entries, fine, previous = i, e, True, first - 1
        i = after_blanks(text, i, stop)
        if not is_end(text, i, stop):
            i, label, fine = decimal(text, i, stop, powers)
            i = after_blanks(text, i, stop)
            if fine and i < stop and text[i] == Q:
                i, fine = after_query(text, i, stop)
                i = after_blanks(text, i, stop)
            while fine and not is_end(text, i, stop):
                i, number, count = digits(text, i, stop, np.uint64(0), 0)
                column = np.int64(number)
                fine = previous < column <= last and count <= DIGITS and i < stop and text[i] == COLON and i > start
                if fine:
                    i, values[entries], fine = decimal(text, i + ONE, stop, powers)
                    columns[entries] = column - first
                    previous, entries = column, entries + 1
                    i = after_blanks(text, i, stop)
            if not fine:
                return start, row, e
            labels[row], ends[row], e = label, entries, entries
            row = row + 1
        while i < stop and text[i] != NEWLINE:
            i = i + ONE
        i = i + ONE
    return stop, row, e
