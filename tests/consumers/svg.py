"""A flame graph is XML, and its widest frame has the expected total. Arguments: FILE.svg TOTAL."""

import re
import sys
import xml.etree.ElementTree as ElementTree

path, total = sys.argv[1], int(sys.argv[2])
titles = [element.text for element in ElementTree.parse(path).iter("{http://www.w3.org/2000/svg}title")]
values = [int(match[1].replace(",", "")) for title in titles if (match := re.search(r"\(([\d,]+) \w+, [\d.]+%\)$", title or ""))]
if max(values, default=0) != total:
    sys.exit(f"{path}: the widest of {len(values)} frames has {max(values, default=0)}, not {total}; titles are like {titles[:3]}")
print(f"{path}: {len(values)} frames of {total}")
