"""The errors a person can cause and mend. The command line prints them without a traceback."""


class BadInput(ValueError):
    """A move, position, option or file that cannot be used; the message says which, and what is allowed."""


class BrokenGame(BadInput):
    """A game file that does not answer what every game must; the message names game, function and field."""
