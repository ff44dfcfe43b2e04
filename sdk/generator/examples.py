"""Takes the examples out of a README: `N.ts` and, if the page says what is printed, `N.out`."""

import re
import sys
from pathlib import Path

page, language, place = Path(sys.argv[1]), sys.argv[2], Path(sys.argv[3])
place.mkdir(parents=True, exist_ok=True)
blocks = re.findall(rf"^```{language}\n(.*?)^```(?:\n+```text\n(.*?)^```)?", page.read_text(), re.DOTALL | re.MULTILINE)
for number, (code, printed) in enumerate(blocks):
    (place / f"{number}.{language}").write_text(code)
    if printed:
        (place / f"{number}.out").write_text(printed)
