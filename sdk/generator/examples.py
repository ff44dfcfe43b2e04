"""Takes the examples out of pages: `PAGE-N.ts` and, if the page says what is printed, `PAGE-N.out`."""

import re
import sys
from pathlib import Path

language, place, *pages = sys.argv[1:]
Path(place).mkdir(parents=True, exist_ok=True)
fence = re.compile(rf"^```{language}\n(.*?)^```(?:\n+```text\n(.*?)^```)?", re.DOTALL | re.MULTILINE)
for page in map(Path, pages):
    for number, (code, printed) in enumerate(fence.findall(page.read_text())):
        (Path(place) / f"{page.stem}-{number}.{language}").write_text(code)
        if printed:
            (Path(place) / f"{page.stem}-{number}.out").write_text(printed)
