import pathlib
import unittest


class Words(unittest.TestCase):
    def test_nobody_else_was_here(self) -> None:
        mine = pathlib.Path("/tmp/mine")
        self.assertFalse(mine.exists())
        mine.touch()
