# SPDX-License-Identifier: Apache-2.0
"""Wrong values are refused in stepcast's own errors, with what to write instead."""
import decimal
import fractions
import os
import pickle
import unittest

import stepcast
from examples import GRID, SMALL

PLAYED = {"stages": 2, "microbatches": 2, "forward": 1, "backward": 2}


def nested(levels):
    values = {}
    for _ in range(levels):
        values = {"a": values}
    return values


class Numbers(unittest.TestCase):
    def test_a_number_that_no_file_can_have_is_refused_with_its_key(self):
        for number, said in ((decimal.Decimal("sNaN"), "snan is no number"),
                             (fractions.Fraction(10**400, 3), "a number beyond 1e308"),
                             (-10**5000, "a number beyond 1e308"),
                             (decimal.Decimal("1e99999999"), "a number beyond 1e308")):
            with self.subTest(said), self.assertRaisesRegex(stepcast.InputError, rf"^training\.global_batch: {said}"):
                stepcast.simulate(SMALL, training={"global_batch": number})

    def test_what_contains_itself_is_refused(self):
        mapping, values = {}, []
        mapping["a"] = mapping
        values.append(values)
        for call in (lambda: stepcast.simulate(mapping), lambda: stepcast.simulate(SMALL, plan=mapping),
                     lambda: stepcast.simulate({**SMALL, "plan": values}), lambda: stepcast.simulate(nested(5000)),
                     lambda: stepcast.Cluster(mapping), lambda: stepcast.Device(nested(5000))):
            with self.assertRaisesRegex(stepcast.InputError, "more than 64 levels deep here, or contain themselves"):
                call()

    def test_a_negative_size_is_refused(self):
        device = stepcast.Device("h100-80gb-sxm")
        for size in (-1, float("nan"), float("inf")):
            with self.subTest(size), self.assertRaisesRegex(stepcast.UsageError, "bytes: expected a finite number, 0 or more"):
                device.stream(size)


class Words(unittest.TestCase):
    def test_what_is_no_name_is_refused(self):
        for call, said in ((lambda: stepcast.catalog(3), "^catalog list: expected a name as a text, not 3"),
                           (lambda: stepcast.catalog(None, "h100-80gb-sxm"), "give the kind before the name"),
                           (lambda: stepcast.schema(None), "expected a name as a text, not None"),
                           (lambda: stepcast.validate(None), "^validate: expected a name as a text, not None"),
                           (lambda: stepcast.call(""), "^call: expected the words of a command"),
                           (lambda: stepcast.call(3), "^call: expected the words of a command"),
                           (lambda: stepcast.schedule(slow=[1.25], **PLAYED), r"^slow: expected a dict .* \{0: 1\.25\}"),
                           (lambda: stepcast.simulate(SMALL, help=True), "^help: a call prints nothing; read help"),
                           (lambda: stepcast.simulate(""), "^scenario: an empty text names no file"),
                           (lambda: stepcast.explain(SMALL, trace=""), "^trace: an empty text is no value"),
                           (lambda: stepcast.Device(""), "^device: an empty text names none"),
                           (lambda: stepcast.call("man"), "^man: prints a text and has no --json"),
                           (lambda: stepcast.call("completion", "bash"), "^completion: prints a text and has no --json")):
            with self.subTest(said), self.assertRaisesRegex(stepcast.UsageError, said):
                call()

    def test_a_zero_byte_is_refused_at_its_place(self):
        for call, place in ((lambda: stepcast.simulate("a\0b.yaml"), "scenario"),
                            (lambda: stepcast.simulate(SMALL, measured="1\0s"), "measured"),
                            (lambda: stepcast.simulate({**SMALL, "name": "a\0b"}), "name")):
            with self.subTest(place), self.assertRaisesRegex(
                    stepcast.InputError, f"^{place}: character 2 of the text is a zero byte"):
                call()

    def test_true_is_a_value_of_flags_alone(self):
        for call, said in ((lambda: stepcast.simulate(SMALL, threads=True), "^threads: True is no value of it; write threads=N$"),
                           (lambda: stepcast.simulate(SMALL, measured=True), "write measured=TIME"),
                           (lambda: stepcast.sweep(GRID, store=True), "write store=FILE")):
            with self.subTest(said), self.assertRaisesRegex(stepcast.UsageError, said):
                call()
        self.assertFalse(os.path.exists("true"))
        self.assertEqual(stepcast.simulate(SMALL, full=True).step, stepcast.simulate(SMALL, full=False).step)

    def test_sizes_beyond_the_limits_are_told_with_them(self):
        with self.assertRaisesRegex(stepcast.UsageError, "--stages: 1000000000 is out of range; expected 1 to 1,000,000"):
            stepcast.schedule(**{**PLAYED, "stages": 10**9})


class Clusters(unittest.TestCase):
    def test_keywords_are_laid_over_a_dict_key_by_key(self):
        two = {"node": "dgx-h100", "nodes": 2}
        self.assertEqual(stepcast.Cluster(two, nodes=4).gpus, 32)
        four = stepcast.Cluster(two, node={"gpus": 4})  # of the named node, as --set cluster.node.gpus=4
        self.assertEqual((four.gpus, four.gpus_per_node), (8, 4))
        self.assertEqual(two, {"node": "dgx-h100", "nodes": 2})
        with self.assertRaisesRegex(stepcast.UsageError, "keywords are laid over a dict alone"):
            stepcast.Cluster("{node: dgx-h100, nodes: 2}", nodes=4)

    def test_clusters_and_groups_are_pickled_by_every_protocol(self):
        cluster = stepcast.Cluster(node="dgx-h100", nodes=2)
        group = cluster.group(range(16))
        for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
            with self.subTest(protocol):
                self.assertEqual(pickle.loads(pickle.dumps(cluster, protocol)).gpus, 16)
                again = pickle.loads(pickle.dumps(group, protocol))
                self.assertEqual(again.time("all_reduce", 1e6), group.time("all_reduce", 1e6))
                device = pickle.loads(pickle.dumps(stepcast.Device("h100-80gb-sxm"), protocol))
                self.assertEqual(device.name, "h100-80gb-sxm")


if __name__ == "__main__":
    unittest.main()
