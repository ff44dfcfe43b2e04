import unittest


class Numbers(unittest.TestCase):
    def test_product(self) -> None:
        self.assertEqual(6 * 7, 42)
