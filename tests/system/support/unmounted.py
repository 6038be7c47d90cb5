"""What becomes of a registry whose folder of wheels is empty at a start, as where its file system is not mounted."""

import shutil

from support.case import FarmCase
from support.clients import RawUpload
from support.farm import Farm
from support.wheels import Wheel


def check_unmounted_store(case: FarmCase, farm: Farm, token: str) -> None:
    wheel = Wheel("mounted", "1.0").write(farm.folder)
    case.assertEqual(RawUpload(farm, token, wheel).send()[0], 200)
    farm.stop()
    blobs, elsewhere = farm.data / "blobs", farm.folder / "not-mounted"
    blobs.rename(elsewhere)
    blobs.mkdir()
    for command in ("serve", "gc", "verify"):
        case.assert_failed(farm.run("wheelyard-registry", command, "-c", farm.config),
                           "has lost its registry.json", str(farm.data), "mount its file system", "store adopt")
        case.assertFalse((blobs / "registry.json").exists())
    shutil.rmtree(blobs)
    elsewhere.rename(blobs)
    farm.start()
    case.assertEqual(set(farm.files("mounted")), {wheel.name})
    case.assertEqual(RawUpload(farm, token, Wheel("mounted", "1.1").write(farm.folder)).send()[0], 200)
    case.assertEqual(farm.get("/readyz")[0], 200)
