# SPDX-License-Identifier: Apache-2.0
"""The type stubs, which the build makes, know the keys of answers and the types of their values."""
import ast
import pathlib
import unittest

import stepcast

FOLDER = pathlib.Path(stepcast.__file__).parent


def classes_of(name):
    """{class: {member: type}} of a stub."""
    tree = ast.parse((FOLDER / name).read_text(encoding="utf-8"))
    return {one.name: {**{line.target.id: ast.unparse(line.annotation) for line in one.body
                          if isinstance(line, ast.AnnAssign)},
                       **{line.name: ast.unparse(line.returns) for line in one.body if isinstance(line, ast.FunctionDef)}}
            for one in tree.body if isinstance(one, ast.ClassDef)}


RESULTS = classes_of("_results.pyi")


def at(path):
    """The type of a key, such as "Search.best.plan.schedule"."""
    first, *keys = path.split(".")
    known = first
    for key in keys:
        members = {}
        for name in RESULTS:
            if name in known.replace("[", " ").replace("]", " ").split():
                members.update(RESULTS[name])
        if key not in members:
            raise KeyError(f"{path}: no {key} in {known}")
        known = members[key]
    return known


class Stubs(unittest.TestCase):
    def test_keys_that_only_some_answers_have_are_known(self):
        for path in ("Forecast.run", "Forecast.racks.trays", "Forecast.alerts",
                     "Forecast.experts", "Forecast.searched.interrupted", "Forecast.emitted", "Search.misfit",
                     "Search.interrupted", "Sweep.nothing_ok.words", "Sweep.interrupted", "Purchase.interrupted",
                     "Explanation.suspects.evidence"):
            with self.subTest(path):
                at(path)

    def test_plans_have_every_key_of_a_scenario(self):
        keys = stepcast.schema("scenario")["properties"]["plan"]["properties"]
        for plan in ("Search.best.plan", "Search.plans.plan", "Purchase.options.plan"):
            for key in keys:
                with self.subTest(plan, key=key):
                    at(f"{plan}.{key}")
        self.assertEqual(at("Search.best.plan.schedule"), "str")
        self.assertEqual(at("Search.best.plan.sequence_parallel"), "bool")

    def test_values_that_may_be_none_say_so(self):
        self.assertEqual(set(at("Comparison.against.effects.reason").split(" | ")), {"None", "str"})
        self.assertEqual(set(at("Comparison.against.changes.to").split(" | ")),
                         {"bool", "float", "str", "None", "Records[Any]"})
        self.assertEqual(set(at("Explanation.told_s").split(" | ")), {"None", "Quantity"})
        self.assertEqual(at("Forecast.model"), "ForecastModel")

    def test_notebooks_get_a_page_or_none(self):
        for name, file in (("Result", "_results.pyi"), ("Records", "_records.pyi")):
            self.assertEqual(classes_of(file)[name]["_repr_html_"], "str | None")


if __name__ == "__main__":
    unittest.main()
