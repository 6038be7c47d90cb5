python -I - "$folder/{{file}}" <<'END' # pip would take any other line for an option
import sys
from pip._vendor.packaging.requirements import Requirement
with open(sys.argv[1], encoding="utf-8") as file:
    [Requirement(line.strip()) for line in file if line.strip()]
END
