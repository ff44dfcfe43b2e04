"""A notebook over a process that stays."""

from __future__ import annotations

import secrets
from pathlib import Path

from atoll import Process, Sandbox

HERE = Path(__file__).parent
WEATHER = "month,city,degrees\n" + "".join(
    f"{month},{city},{round(middle - swing * abs(month - 7) / 6)}\n"
    for month in range(1, 13)
    for city, middle, swing in (("Oslo", 22, 26), ("Lisbon", 28, 17))
)

CELLS = [
    "import csv\nrows = list(csv.DictReader(open('weather.csv')))\nprint(len(rows), 'rows')",
    "cities = {row['city']: [int(each['degrees']) for each in rows if each['city'] == row['city']] for row in rows}\n"
    "print(f'{\"city\":8}{\"low\":>4}{\"high\":>6}')\n"
    "for city in sorted(cities): print(f'{city:8}{min(cities[city]):4}{max(cities[city]):6}')",
    "print(towns)",
    "while True: pass",
    "mean = {city: sum(all) / len(all) for city, all in cities.items()}\n"
    "print(f'Lisbon is {mean[\"Lisbon\"] - mean[\"Oslo\"]:.1f} degrees warmer on average')",
    "bars = ''.join(f'<rect x=\"{i * 30}\" y=\"{100 - 3 * mean[city]}\" width=\"20\" height=\"{3 * mean[city]}\"/>'\n"
    "               for i, city in enumerate(sorted(mean)))\n"
    "open('chart.svg', 'w').write(f'<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 60 100\">{bars}</svg>')",
]


class Notebook:
    """Cells, one after the other."""

    def __init__(self, kernel: Process) -> None:
        self._kernel = kernel
        self._line = kernel.attach()

    def run(self, source: str, *, patience: float) -> str:
        """What a cell prints. One that takes longer than so many seconds is interrupted; the kernel goes on."""
        mark = secrets.token_hex(8)
        self._line.write(f"{mark} {source.encode().hex()}\n")
        try:
            self._kernel.wait_for_log(mark, timeout_ms=int(patience * 1000))
        except TimeoutError:
            self._kernel.signal("INT")
        printed = ""
        for output in self._line:
            printed += output.text
            if printed.endswith(f"{mark}\n"):
                break
        return printed.removesuffix(f"{mark}\n")


def main() -> None:
    with Sandbox.temporary(labels={"kind": "notebook"}) as sandbox:
        sandbox.files.upload(".", {"weather.csv": WEATHER, "kernel.py": (HERE / "kernel.py").read_text()})
        with sandbox.processes.start(["python3", "-u", "kernel.py"], stdin="pipe") as kernel:
            notebook = Notebook(kernel)
            for number, cell in enumerate(CELLS, 1):
                printed = notebook.run(cell, patience=2).rstrip("\n")
                if printed:
                    print(f"[{number}]", printed.replace("\n", "\n    "))
        Path("chart.svg").write_bytes(sandbox.files.read("chart.svg"))


if __name__ == "__main__":
    main()
