# SPDX-License-Identifier: Apache-2.0
"""Calls tell how far they are, and end with what they have where progress returns False."""
import unittest
import warnings

import stepcast
from examples import EXAMPLES, QUESTION, SMALL

LONG = EXAMPLES / "gpt3-175b-search-4096-a100.yaml"
MANY = {"base": SMALL, "vary": {"plan.micro_batch": [1, 2, 4], "training.global_batch": list(range(16, 16016, 16))}}
PURCHASE = {"workload": {"model": SMALL["model"], "training": SMALL["training"], "tokens": 1e9},
            "options": [{"name": name, "cluster": {"node": node, "nodes": 1},
                         "rent": {"per_gpu_hour": "2 USD", "kind": "on-demand"}}
                        for name, node in (("a", "dgx-a100-80gb"), ("h", "dgx-h100"))]}


def stopping_at(said, calls):
    """A function that returns False at that call."""
    def listen(progress):
        said.append(progress)
        return len(said) < calls

    return listen


class Stops(unittest.TestCase):
    def setUp(self):
        caught = warnings.catch_warnings()
        caught.__enter__()
        self.addCleanup(caught.__exit__, None, None, None)
        warnings.simplefilter("ignore", stepcast.StepcastWarning)

    def test_a_sweep_that_is_stopped_has_the_points_so_far(self):
        said = []
        sweep = stepcast.sweep(MANY, progress=stopping_at(said, 2))
        self.assertTrue(sweep.interrupted)
        self.assertLess(len(sweep.points), 3000)
        self.assertIn("interrupted before", repr(sweep))
        self.assertEqual(said[0]["points"], 3000)
        whole = stepcast.sweep({"base": SMALL, "vary": {"plan.micro_batch": [1, 2]}})
        self.assertFalse(whole.interrupted)

    def test_a_purchase_that_is_stopped_says_so(self):
        stopped = stepcast.purchase(PURCHASE, progress=lambda said: False)
        self.assertTrue(stopped.interrupted)
        self.assertEqual([option.plan for option in stopped.options], [None, None])
        said = []
        half = stepcast.purchase(PURCHASE, progress=lambda now: said.append(now) or now["options_done"] < 1)
        self.assertTrue(half.interrupted)
        self.assertIsNotNone(half.options[0].plan)
        self.assertIsNone(half.options[1].plan)
        self.assertFalse(stepcast.purchase(PURCHASE).interrupted)

    def test_a_plan_that_is_searched_for_is_the_best_so_far_or_none(self):
        said = []
        try:
            forecast = stepcast.simulate(LONG, plan="auto", search={"gap": 0}, threads=1,
                                         progress=stopping_at(said, 2))
            self.assertTrue(forecast.searched.interrupted)
        except stepcast.Error as none:
            self.assertIs(type(none), stepcast.Error)
            self.assertIn("stopped before any plan was found", str(none))
        self.assertEqual(len(said), 2)
        self.assertIn("plans_open", said[0])

    def test_a_search_tells_before_it_has_bounded_all_plans(self):
        said = []
        stepcast.search(LONG, threads=1, progress=lambda now: said.append(now) or "best_s" not in now)
        self.assertNotIn("best_s", said[0])
        self.assertIn("plans", said[0])

    def test_what_progress_raises_any_call_raises(self):
        class Enough(ValueError):
            pass

        def fail(progress):
            raise Enough("enough")

        for call in (lambda: stepcast.sweep(MANY, progress=fail), lambda: stepcast.purchase(PURCHASE, progress=fail),
                     lambda: stepcast.simulate(LONG, plan="auto", progress=fail)):
            with self.assertRaisesRegex(Enough, "enough"):
                call()


class Pages(unittest.TestCase):
    def test_answers_without_a_page_show_their_words_in_a_notebook(self):
        for answer, name in ((stepcast.explain(SMALL, measured="3s"), "an explanation"),
                             (stepcast.search(QUESTION, search={"micro_batch": 1024}), "a search without a plan"),
                             (stepcast.call("catalog list"), "this answer")):
            with self.subTest(name):
                self.assertIsNone(answer._repr_html_())
                for show, what in ((answer.page, "page"), (answer.trace, "timeline"), (answer.timeline, "timeline")):
                    with self.assertRaisesRegex(stepcast.UsageError,
                                                rf"^{name} has no {what}; ask simulate\(\.\.\.\)\.{what}\(\)$"):
                        show()

    def test_answers_with_a_page_alone_have_no_timeline(self):
        with self.assertRaisesRegex(stepcast.UsageError, "^a sweep has no timeline"):
            stepcast.sweep({"base": SMALL, "vary": {"plan.micro_batch": [1, 2]}}).timeline()


if __name__ == "__main__":
    unittest.main()
