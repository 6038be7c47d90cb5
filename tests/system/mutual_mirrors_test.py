"""Registries that ask each other: two that mirror each other, and one that asks itself under another name. What one of them has, all have; what
none has is 404 at once, with the reason in the log, and neither waits for itself."""

import json

from support.case import OwnFarmsCase, main
from support.clients import RawUpload
from support.farm import Farm
from support.wheels import Wheel

INDEX = "main"


def upstream_at(url: str) -> str:
    host = url.split("/")[2].rsplit(":", 1)[0]
    return f'[[index.upstream]]\nname = "other"\nurl = "{url}"\nprivate_hosts = ["{host}"]\n'


class OpenFarm(Farm):
    """Listens at all addresses: 127.0.0.2 is a name of it that it does not know as its own."""

    def write_config(self, port: int) -> None:
        super().write_config(port)
        self.config.write_text(self.config.read_text().replace('listen = "127.0.0.1:', 'listen = "0.0.0.0:'))


class MutualMirrorsTest(OwnFarmsCase):
    def open_farm(self, kind: type[Farm] = Farm, *indexes: str) -> Farm:
        farm = kind(indexes or (INDEX,))
        self.addCleanup(farm.__exit__)
        return farm

    def restart(self, farm: Farm, settings: dict[str, str]) -> None:
        farm.stop()
        farm.index_settings = settings
        farm.write_config(farm.port)
        farm.start()

    def loops_in(self, farm: Farm, project: str) -> list[str]:
        return [line for line in farm.log.read_text().splitlines() if "upstream.loop" in line and project in line and "via=" in line]

    def test_two_registries_that_mirror_each_other_answer_at_once_what_neither_has(self):
        one, two = self.open_farm(), self.open_farm()
        tokens = {farm: farm.create_token() for farm in (one, two)}
        one.start()
        two.index_settings = {INDEX: upstream_at(one.simple_url(INDEX))}
        two.write_config(0)
        two.start()
        self.restart(one, {INDEX: upstream_at(two.simple_url(INDEX))})
        for number, farm in enumerate((one, two)):
            wheel = Wheel(f"numbat-{number}").write(self.folder)
            status, problem = RawUpload(farm, tokens[farm], wheel, INDEX).send()
            self.assertEqual(status, 200, problem)
        for asked, owner in ((one, 1), (two, 0)):
            [entry] = asked.files(f"numbat-{owner}", INDEX).values()
            self.assertEqual(asked.get(f"/{INDEX}" + entry["url"].removeprefix("../.."))[0], 200)
        for asked, other in ((one, two), (two, one)):
            name = f"nobody-has-{asked.port}"
            status, _, body = asked.get(f"/{INDEX}/simple/{name}/")
            self.assertEqual(status, 404, body)
            self.assertEqual(len(self.loops_in(asked, name)), 1)  # the other one asked once, and was told why not
            # The other one's own clients are not told that it goes in a circle.
            self.assertEqual(other.get(f"/{INDEX}/simple/{name}/")[0], 404)

    def test_a_registry_that_asks_itself_under_another_name_notices_at_once(self):
        farm = self.open_farm(OpenFarm, INDEX, "mirror")
        farm.start()
        itself = f"http://127.0.0.2:{farm.port}"
        self.restart(farm, {INDEX: upstream_at(f"{itself}/mirror/simple/"), "mirror": upstream_at(f"{itself}/{INDEX}/simple/")})
        self.assertEqual(farm.get(f"/{INDEX}/simple/nobody/")[0], 404)
        self.assertEqual(len(self.loops_in(farm, "nobody")), 1)
        explained = farm.run("wheelyard-registry", "explain", INDEX, "nobody", "--json", "-c", farm.config)
        self.assert_ran(explained)
        [failure] = [step["last_failure"] for step in json.loads(explained.stdout)["steps"] if "last_failure" in step]
        self.assertEqual(failure["code"], "upstream.loop")
        # Whoever comes back is told so, also beyond what a chain of registries may take.
        status, headers, body = farm.get(f"/{INDEX}/simple/nobody-else/", headers={"Wheelyard-Via": "x, " * 400})
        self.assertEqual((status, json.loads(body)["code"]), (508, "upstream.loop"))
        self.assertTrue(headers["Wheelyard-Via"])


if __name__ == "__main__":
    main()
