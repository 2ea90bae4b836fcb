# SPDX-License-Identifier: Apache-2.0
"""What calls say beside an answer, and of words that they do not know."""
import copy
import datetime
import decimal
import fractions
import os
import pickle
import tempfile
import unittest
import warnings

import stepcast
from examples import SMALL

LARGE = {**SMALL, "training": {**SMALL["training"], "sequence_length": 8192}, "plan": {"tensor": 1}}
BEYOND = "training.sequence_length 8192 is beyond the model's max_sequence 4096"


def heard(call):
    """The answer, and the warnings of Python's own module."""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        answer = call()
    return answer, said


class Warnings(unittest.TestCase):
    def test_a_forecast_has_the_warnings_of_the_command_line(self):
        forecast, said = heard(lambda: stepcast.simulate(LARGE))
        self.assertEqual(forecast.warnings[0], BEYOND)
        self.assertIn("of 79.2 GiB device memory", forecast.warnings[1])
        self.assertEqual([str(one.message) for one in said], forecast.warnings)
        for again in (pickle.loads(pickle.dumps(forecast)), copy.deepcopy(forecast)):
            self.assertEqual(again.warnings, forecast.warnings)
        fine, said = heard(lambda: stepcast.simulate(SMALL))
        self.assertEqual((fine.warnings, said), ([], []))

    def test_a_warning_is_raised_at_the_line_of_the_call_in_a_category_of_its_own(self):
        _, said = heard(lambda: stepcast.simulate(LARGE))
        for one in said:
            self.assertEqual((one.filename, one.category), (__file__, stepcast.StepcastWarning))
        with warnings.catch_warnings():
            warnings.simplefilter("error", stepcast.StepcastWarning)
            with self.assertRaisesRegex(stepcast.StepcastWarning, "beyond the model's"):
                stepcast.simulate(LARGE)

    def test_what_does_not_fit_says_so_where_it_is_shown(self):
        forecast, _ = heard(lambda: stepcast.simulate(LARGE))
        self.assertTrue(repr(forecast).endswith(", does not fit in memory>"), repr(forecast))
        self.assertTrue(forecast._repr_html_().startswith("<p><strong>does not fit in memory</strong></p><iframe"))
        self.assertNotIn("does not fit", repr(stepcast.simulate(SMALL)))

    def test_a_search_has_the_warnings_of_its_best_plan(self):
        question = {**LARGE, "cluster": {"node": "dgx-a100-80gb", "nodes": 2}}
        del question["plan"]
        found, said = heard(lambda: stepcast.search(question, top=1))
        self.assertIn(BEYOND, found.warnings)
        self.assertEqual([str(one.message) for one in said], found.warnings)

    def test_a_sweep_of_which_no_point_fits_says_so_and_why(self):
        grid = {"base": LARGE, "vary": {"training.global_batch": [8, 16]}}
        sweep, said = heard(lambda: stepcast.sweep(grid))
        self.assertRegex(repr(sweep), "2 points, of which none runs and fits: 2 does-not-fit, such as: stage 0 needs")
        self.assertRegex(sweep.warnings[0], "^no point runs and fits: 2 does-not-fit")
        self.assertEqual([str(one.message) for one in said], sweep.warnings)

    def test_a_sweep_with_a_point_that_fits_leaves_the_others_to_its_table(self):
        sweep, said = heard(lambda: stepcast.sweep({"base": LARGE, "vary": {"plan.zero": [0, 3]}}))
        self.assertEqual((said, sweep.table()["status"]), ([], ["does-not-fit", "ok"]))

    def test_a_purchase_has_the_warnings_of_its_document(self):
        purchase = {"workload": {"model": SMALL["model"], "training": SMALL["training"], "tokens": 1e9},
                    "options": [{"name": "a", "cluster": SMALL["cluster"],
                                 "rent": {"per_gpu_hour": "2 USD", "kind": "on-demand"}}]}
        answer, said = heard(lambda: stepcast.purchase(purchase))
        self.assertRegex(answer.warnings[0], "^failures are left out")
        self.assertEqual(answer["warnings"].to_list(), answer.warnings)
        self.assertEqual([str(one.message) for one in said], answer.warnings)


class Plans(unittest.TestCase):
    def test_the_plan_auto_is_searched_and_simulated(self):
        forecast, _ = heard(lambda: stepcast.simulate(LARGE, plan="auto"))
        self.assertTrue(forecast.memory.fits)
        none = {**LARGE, "search": {"micro_batch": 1024}}
        del none["plan"]
        with self.assertRaisesRegex(stepcast.Error, "no plan") as caught:
            stepcast.simulate(none, plan="auto")
        self.assertIs(type(caught.exception), stepcast.Error)

    def test_a_slow_run_is_explained(self):
        answer = stepcast.explain(SMALL, measured="3s")
        self.assertEqual(answer.measured_s, 3)
        self.assertIn("set", answer.table().columns)
        with self.assertRaisesRegex(stepcast.UsageError, "how long did the step take"):
            stepcast.explain(SMALL)


class Values(unittest.TestCase):
    def test_what_is_no_number_is_refused_with_its_key(self):
        for keywords, said in (({"cluster": {"memory_fraction": float("nan")}}, r"^cluster\.memory_fraction: nan is no number"),
                               ({"measured": float("inf")}, "^measured: inf is no number"),
                               ({"set": {"plan.tensor": float("nan")}}, r"^set\.plan\.tensor: nan"),
                               ({"training": {"global_batch": [1, decimal.Decimal("nan")]}}, r"^training\.global_batch\[1\]")):
            with self.subTest(keywords), self.assertRaisesRegex(stepcast.InputError, said) as caught:
                stepcast.simulate(SMALL, **keywords)
            self.assertEqual(str(caught.exception).split(":")[0], caught.exception.complaints[0].place)

    def test_what_no_file_can_have_is_refused_with_its_key_and_what_to_write(self):
        half = "a\ud800b"
        for call, place in ((lambda: stepcast.simulate({**SMALL, "name": half}), "name"),
                            (lambda: stepcast.simulate({**SMALL, "plan": {half: 1}}), "a key of plan"),
                            (lambda: stepcast.simulate(SMALL, name=half), "name"),
                            (lambda: stepcast.simulate(SMALL, set=["a=1", "name=" + half]), r"set\[1\]"),
                            (lambda: stepcast.simulate(half + ".yaml"), "scenario"),
                            (lambda: stepcast.catalog("device", half), "name"),
                            (lambda: stepcast.Device(half), "device"),
                            (lambda: stepcast.Cluster(node=half), "node")):
            with self.subTest(place), self.assertRaisesRegex(
                    stepcast.InputError, rf"^{place}: character \d of the text is a lone surrogate \(U\+D800\), .*; write"):
                call()
        with self.assertRaisesRegex(stepcast.InputError, r"^scenario:2:9: this is a lone surrogate") as caught:
            stepcast.simulate("model: x\nname: ä" + half[1:])
        self.assertEqual((caught.exception.complaints[0].line, caught.exception.complaints[0].column), (2, 9))
        with self.assertRaisesRegex(stepcast.InputError, "^measured: a timedelta .* write '2.5 s'"):
            stepcast.simulate(SMALL, measured=datetime.timedelta(seconds=2.5))
        with self.assertRaisesRegex(stepcast.InputError, r"^plan\.zero: .* of type object .* write a number, a text"):
            stepcast.simulate(SMALL, plan={"zero": object()})

    def test_ranges_and_arrays_are_lists_and_exact_numbers_are_numbers(self):
        class Array:  # as numpy's
            def __init__(self, values):
                self.values = values

            def tolist(self):
                return self.values

        for zero in (range(2), Array([0, 1]), (0, decimal.Decimal(1)), [0, fractions.Fraction(1)]):
            with self.subTest(zero):
                sweep, _ = heard(lambda: stepcast.sweep({"base": SMALL, "vary": {"plan.zero": zero}}))
                self.assertEqual(sweep.table()["plan.zero"], [0, 1])
        half = stepcast.simulate(SMALL, cluster={"memory_fraction": fractions.Fraction(1, 2)})
        again = stepcast.simulate(SMALL, cluster={"memory_fraction": 0.5})
        self.assertEqual(half.memory, again.memory)

    def test_a_measured_step_of_a_dict_brings_its_scenario_along(self):
        entry = stepcast.simulate(SMALL, measured="3 s").measured.entry
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "mine.yaml")
            with open(path, "w", encoding="utf-8") as file:
                file.write(entry)
            corrected, _ = heard(lambda: stepcast.simulate(SMALL, corrections=path))
        self.assertEqual(corrected.correction["from"][0].correlation, 1)

    def test_answers_are_saved_by_the_ending_of_the_name_and_no_other(self):
        forecast = stepcast.simulate(SMALL)
        with tempfile.TemporaryDirectory() as folder:
            for name in ("a.csv", "a.pftrace", "a"):
                with self.subTest(name), self.assertRaisesRegex(stepcast.UsageError, "ends in .html"):
                    forecast.save(os.path.join(folder, name))
            self.assertEqual(os.listdir(folder), [])
            for name, text in (("a.json", forecast.to_json()), ("a.trace.json", forecast.trace())):
                forecast.save(os.path.join(folder, name))
                with open(os.path.join(folder, name), encoding="utf-8") as file:
                    self.assertEqual(file.read(), text)

    def test_a_table_that_is_not_there_is_refused_with_those_that_are(self):
        for path in ("memory.stgaes", "step", "step.time_s.x"):
            with self.subTest(path), self.assertRaisesRegex(ValueError, "is no list; there are .*memory.stages"):
                stepcast.simulate(SMALL).table(path)


class Words(unittest.TestCase):
    def test_an_unknown_keyword_is_told_with_the_key_that_has_its_name(self):
        for keywords, said in (({"tokens": 1e12}, r'no keyword .tokens.; write training=\{"tokens": \.\.\.\}'),
                               ({"modle": "llama2-7b"}, "did you mean model="),
                               ({"mesured": "1s"}, "did you mean measured="),
                               ({"global_batches": 8}, r'did you mean training=\{"global_batch": \.\.\.\}'),
                               ({"frames": 3}, "there are keys .*cluster.* and options .*measured")):
            with self.subTest(keywords), self.assertRaisesRegex(stepcast.UsageError, said):
                stepcast.simulate(SMALL, **keywords)
        with self.assertRaisesRegex(stepcast.UsageError, "search: no keyword 'tpo'; did you mean top="):
            stepcast.search(SMALL, tpo=3)
        with self.assertRaisesRegex(stepcast.UsageError, "sweep: no keyword 'vari'; did you mean vary="):
            stepcast.sweep({"base": SMALL, "vary": {"plan.zero": [1]}}, vari={})

    def test_commands_that_take_no_keys_name_options_alone(self):
        with self.assertRaisesRegex(stepcast.UsageError, r"simulate: no keyword 'training'; there are options \(against"):
            stepcast.call("simulate", SMALL, training={"global_batch": 8})
        with self.assertRaisesRegex(stepcast.UsageError, "schedule: no keyword 'stage'; did you mean stages="):
            stepcast.schedule("1f1b", stage=2, microbatches=2, forward=1, backward=2)

    def test_a_size_in_words_is_refused_with_its_unit_and_without_names_of_the_compiler(self):
        group = stepcast.Cluster(node="dgx-h100", nodes=1).group(range(8))
        for size in ("1 GiB", [1, "2"], None):
            with self.subTest(size), self.assertRaisesRegex(TypeError, "a number of bytes, such as 2") as caught:
                group.time("all_reduce", size)
            self.assertNotIn("incompatible", str(caught.exception))
        with self.assertRaisesRegex(TypeError, "m, n, k and batch as whole numbers"):
            stepcast.Device("h100-80gb-sxm").product("8192", 1, 1)

    def test_names_of_other_programs_lead_to_those_of_the_catalog(self):
        group = stepcast.Cluster(node="dgx-h100", nodes=1).group(range(8))
        with self.assertRaisesRegex(ValueError, "unknown collective 'allreduce'.*did you mean 'all_reduce'"):
            group.time("allreduce", 1e6)
        device = stepcast.Device("h100-80gb-sxm")
        for word, meant in (("bfloat16", "bf16"), ("float16", "fp16"), ("torch.float32", "fp32"), ("fb8", "fp8")):
            with self.subTest(word), self.assertRaisesRegex(ValueError, f"did you mean '{meant}'"):
                device.product(1024, 1024, 1024, precision=word)
        with self.assertRaisesRegex(ValueError, "unknown pass 'forwards'.*did you mean 'forward'"):
            device.product(1024, 1024, 1024, kernel_pass="forwards")


if __name__ == "__main__":
    unittest.main()
