"""A flame graph is XML, and its base has the expected total. Arguments: FILE.svg TOTAL."""

import sys
import xml.etree.ElementTree as ElementTree

path, total = sys.argv[1], int(sys.argv[2])
boxes = [element for element in ElementTree.parse(path).iter("{http://www.w3.org/2000/svg}g")]
values = [int(box.get("data-total")) for box in boxes]
if max(values, default=0) != total:
    titles = [box[0].text for box in boxes[:3]]
    sys.exit(f"{path}: the widest of {len(values)} boxes has {max(values, default=0)}, not {total}; titles are like {titles}")
print(f"{path}: {len(values)} boxes of {total}")
