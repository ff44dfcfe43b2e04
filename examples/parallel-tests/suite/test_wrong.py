import unittest


class Wrong(unittest.TestCase):
    def test_name(self) -> None:
        self.assertEqual("atol", "atoll")
