# SPDX-License-Identifier: Apache-2.0
"""The module's answers are those of the command line, with attributes, units, tables and pages."""
import copy
import json
import os
import pathlib
import pickle
import re
import tempfile
import unittest
import warnings

import examples
import stepcast
from examples import EXAMPLES, GRID, QUESTION, SMALL, STEP, program, without_wall
from stepcast import _results


def timeless(page):
    return re.sub(r'"wall_s":[0-9.e-]+', "", page)


class Simulate(unittest.TestCase):
    def test_the_document_is_that_of_the_command_line(self):
        forecast = stepcast.simulate(STEP)
        self.assertEqual(without_wall(forecast.to_dict()), without_wall(program("simulate", STEP)))
        self.assertEqual(json.loads(forecast.to_json()), forecast.to_dict())

    def test_a_path_a_text_a_dict_and_keywords_say_the_same(self):
        text = json.dumps(SMALL, indent=1)
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "small.yaml"
            file.write_text(text)
            answers = [stepcast.simulate(given) for given in (file, str(file), text, SMALL)]
        answers.append(stepcast.simulate(**SMALL))
        answers.append(stepcast.simulate({**SMALL, "plan": {}}, plan=SMALL["plan"]))
        for answer in answers:
            self.assertEqual(without_wall(answer.to_dict()), without_wall(answers[0].to_dict()))

    def test_keywords_replace_keys_one_by_one_and_options_are_those_of_the_command(self):
        here = stepcast.simulate(STEP, plan={"micro_batch": 1}, set={"training.global_batch": 8}, full=True)
        there = program("simulate", STEP, "--set", "plan.micro_batch=1", "--set", "training.global_batch=8",
                        "--full")
        self.assertEqual(without_wall(here.to_dict()), without_wall(there))
        self.assertEqual(stepcast.simulate(SMALL, measured="1s").measured.time_s, 1)

    def test_every_key_is_an_attribute_and_an_item(self):
        forecast = stepcast.simulate(SMALL)

        def look(record, values):
            for key, value in values.items():
                self.assertIs(type(record[key]), type(getattr(record, key)))
                if isinstance(value, dict):
                    look(record[key], value)

        look(forecast, forecast.to_dict())
        self.assertIn("step", dir(forecast))
        with self.assertRaisesRegex(AttributeError, "no 'stepp'; there are stepcast, scenario, model, step"):
            forecast.stepp
        with self.assertRaises(AttributeError):
            forecast.step.time_s = 1

    def test_figures_have_units_and_compute_as_numbers(self):
        forecast = stepcast.simulate(SMALL)
        time = forecast.step.time_s
        self.assertEqual(time.unit, "s")
        self.assertEqual(repr(time), f"{float(time):.3g} s")
        self.assertEqual(f"{time:.3f}", f"{float(time):.3f}")
        self.assertIs(type(time * 2), float)
        self.assertEqual(forecast.memory.peak_bytes.unit, "B")
        self.assertEqual(forecast.memory.stages[0].weights.unit, "B")
        self.assertEqual(forecast.step.tokens_per_s_per_gpu.unit, "tokens/s/GPU")
        self.assertIs(type(forecast.step.mfu), float)  # a share has no unit

    def test_what_is_changed_is_a_copy(self):
        forecast = stepcast.simulate(SMALL)
        forecast.to_dict()["step"]["time_s"] = 0
        self.assertGreater(forecast.step.time_s, 0)

    def test_answers_are_pickled_and_copied(self):
        for answer in (stepcast.simulate(SMALL), stepcast.schedule("1f1b", stages=2, microbatches=2, forward=1,
                                                                   backward=2)):
            for again in (pickle.loads(pickle.dumps(answer)), copy.deepcopy(answer)):
                self.assertEqual(again, answer)
                self.assertIs(type(again), type(answer))
                self.assertIn("<html", again.page()[:200])
        time = pickle.loads(pickle.dumps(stepcast.simulate(SMALL).step)).time_s
        self.assertEqual(time.unit, "s")

    def test_a_page_is_that_of_report_and_stands_in_a_frame_of_a_notebook(self):
        with tempfile.TemporaryDirectory() as folder:
            file = os.path.join(folder, "page.html")
            forecast = stepcast.simulate(SMALL)
            stepcast.simulate(SMALL, report=file)
            written = pathlib.Path(file).read_text(encoding="utf-8")
            forecast.save(os.path.join(folder, "own.html"))
            own = pathlib.Path(folder, "own.html").read_text(encoding="utf-8")
        for page in (own, written):
            self.assertEqual(timeless(page), timeless(forecast.page()))
        html = forecast._repr_html_()
        self.assertTrue(html.startswith('<iframe srcdoc="&lt;!doctype html'), html[:60])

    def test_a_timeline_is_a_table_of_bars(self):
        forecast = stepcast.simulate(SMALL)
        timeline = forecast.timeline()
        self.assertEqual(timeline.units["start_s"], "s")
        ends = [start + duration for start, duration in zip(timeline["start_s"], timeline["duration_s"])]
        self.assertLessEqual(max(ends), forecast.step.time_s * (1 + 1e-9))
        self.assertIn("forward", timeline["kind"])
        with tempfile.TemporaryDirectory() as folder:
            file = os.path.join(folder, "trace.json")
            stepcast.simulate(SMALL, trace=file)
            self.assertEqual(pathlib.Path(file).read_text(encoding="utf-8"), forecast.trace())

    def test_two_scenarios_are_compared(self):
        both = stepcast.compare({**SMALL, "plan": {**SMALL["plan"], "micro_batch": 1}}, SMALL)
        self.assertIn("plan.micro_batch", both.to_json())
        self.assertIn("<html", both.page()[:200])


class Search(unittest.TestCase):
    def test_a_search_finds_what_the_command_line_finds(self):
        found = stepcast.search(QUESTION, top=3, threads=1)
        with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
            json.dump(QUESTION, file)
            file.flush()
            there = program("search", file.name, "--top", 3, "--threads", 1)
        self.assertTrue(found.found)
        self.assertEqual(without_wall(found.to_dict()), without_wall(there))
        self.assertEqual(found.best.plan.to_dict(), found.plans[0].plan.to_dict())
        self.assertIn("<html", found.page()[:200])
        self.assertTrue(len(found.timeline()))

    def test_a_search_without_a_plan_says_why(self):
        found = stepcast.search(QUESTION, search={"micro_batch": 1024})
        self.assertFalse(found.found)
        self.assertIn("no plan", found.said)

    def test_progress_may_end_a_search_with_what_it_has(self):
        said = []

        def listen(progress):
            said.append(progress)
            return "best_s" not in progress

        with warnings.catch_warnings():
            warnings.simplefilter("ignore", stepcast.StepcastWarning)
            found = stepcast.search(EXAMPLES / "gpt3-175b-search-4096-a100.yaml", progress=listen, threads=1,
                                    search={"gap": 0})
        self.assertTrue(found.interrupted)
        self.assertTrue(found.found)
        self.assertGreater(said[-1]["plans"], 1)
        self.assertIn("plans", said[0]["text"])

    def test_what_progress_raises_the_search_raises(self):
        def fail(progress):
            raise LookupError("enough")

        with self.assertRaisesRegex(LookupError, "enough"):
            stepcast.search(EXAMPLES / "gpt3-175b-search-4096-a100.yaml", progress=fail)


class Others(unittest.TestCase):
    def test_a_sweep_has_a_point_for_each_place_and_leaves_no_file(self):
        before = set(os.listdir())
        sweep = stepcast.sweep(GRID, threads=2)
        self.assertEqual(len(sweep.points), 6)
        self.assertEqual(set(os.listdir()), before)
        table = sweep.table()
        self.assertEqual(table["plan.tensor"], [1, 1, 2, 2, 4, 4])
        self.assertIn("<html", sweep.page()[:200])
        alone = stepcast.simulate(SMALL, plan={"tensor": 4, "micro_batch": 1})
        place = list(zip(table["plan.tensor"], table["plan.micro_batch"])).index((4, 1))
        self.assertEqual(table["step_time_s"][place], alone.step.time_s)

    def test_a_sweep_with_a_store_goes_on(self):
        with tempfile.TemporaryDirectory() as folder:
            store = os.path.join(folder, "s.sqlite")
            first = stepcast.sweep(GRID, store=store)
            again = stepcast.sweep(GRID, store=store)
            self.assertEqual(again.to_dict(), first.to_dict())
            self.assertEqual(stepcast.call("sweep export", store)["points"], first["points"])

    def test_the_axes_of_a_sweep_may_be_keywords(self):
        sweep = stepcast.sweep(base=SMALL, vary={"plan.micro_batch": [1, 2]})
        self.assertEqual(sweep.table()["plan.micro_batch"], [1, 2])

    def test_a_schedule_is_played(self):
        schedule = stepcast.schedule("1f1b", stages=4, microbatches=8, forward=1, backward=2)
        self.assertEqual(schedule.makespan, 33)
        self.assertEqual(schedule.table()["pass"].count("F"), 32)
        self.assertEqual(len(schedule.timeline()), 64)
        slower = stepcast.schedule("1f1b", stages=4, microbatches=8, forward=1, backward=2, slow={0: 2})
        self.assertGreater(slower.makespan, 33)
        written = stepcast.schedule(order="0F0,0F1,0B0,0B1\n1F0,1B0,1F1,1B1\n", forward=1, backward=2)
        self.assertEqual(len(written.stages), 2)

    def test_a_purchase_recommends(self):
        purchase = {
            "workload": {**{key: SMALL[key] for key in ("model", "training")}, "tokens": 1e9},
            "options": [{"name": name, "cluster": {"node": node, "nodes": 1}, "rent": {"per_gpu_hour": "2 USD", "kind": "on-demand"}}
                        for name, node in (("a", "dgx-a100-80gb"), ("h", "dgx-h100"))]}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", stepcast.StepcastWarning)
            answer = stepcast.purchase(purchase)
        self.assertEqual(answer.recommended.name, "h")
        self.assertEqual(answer.table()["name"], ["a", "h"])
        self.assertIn("<html", answer.page()[:200])

    def test_money_has_the_currency_of_its_document(self):
        document = json.dumps({"currency": "EUR", "options": [
            {"name": "a", "total_cost": 3.0, "paid": None, "cost_per_trillion_tokens": 6.0, "goodput": 0.9,
             "what_if": [{"what": "no rails", "cost_change": 0.5}]}]})
        answer = pickle.loads(pickle.dumps(_results.Purchase(document, None)))
        option = answer.options[0]
        self.assertEqual(option.total_cost.unit, "EUR")
        self.assertEqual(option.cost_per_trillion_tokens.unit, "EUR/trillion tokens")
        self.assertFalse(hasattr(option.goodput, "unit"))
        self.assertEqual(pickle.loads(pickle.dumps(option)).what_if[0].cost_change.unit, "EUR")
        self.assertEqual(answer.table().units, {"total_cost": "EUR", "paid": "EUR",
                                                "cost_per_trillion_tokens": "EUR/trillion tokens"})
        self.assertEqual(option.what_if.table().units, {"cost_change": "EUR"})
        rows = [{"run": {"capital": 2.0, "currency": "USD"}}, {"run": None}]
        self.assertEqual(stepcast.Table.of(rows).units, {"run.capital": "USD"})
        self.assertIsNone(stepcast.unit_of("options.total_cost"))

    def test_published_runs_are_validated(self):
        answer = stepcast.validate("korthikanti2022_table5", data=examples.ROOT / "scenarios" / "published")
        self.assertEqual(answer.rows, len(answer.table()))

    def test_the_catalog_and_the_schemas_are_there(self):
        self.assertIn("h100-80gb-sxm", str(stepcast.catalog("device").to_dict()))
        self.assertEqual(stepcast.catalog("device", "h100-80gb-sxm").sms, 132)
        for kind in ("scenario", "sweep", "purchase", "corrections"):
            self.assertIn("$schema", stepcast.schema(kind))

    def test_figures_of_kernels_and_collectives(self):
        cluster = stepcast.Cluster(node="dgx-h100", nodes=4)
        self.assertEqual(cluster.gpus, 32)
        group = cluster.group(range(0, 32, 8), sharing=8)
        self.assertEqual((group.ranks, group.nodes), (4, 4))
        sizes = [1e3, 1e6, 1e9]
        self.assertEqual(group.time("all_reduce", sizes), [group.time("all-reduce", size) for size in sizes])
        self.assertEqual(pickle.loads(pickle.dumps(group)).time("all_gather", 1e6), group.time("all_gather", 1e6))
        device = stepcast.Device("h100-80gb-sxm")
        once, twice = device.product(4096, 4096, 4096), device.product(4096, 4096, 8192)
        self.assertTrue(once < twice < 2.2 * once)
        self.assertLess(device.product(4096, 4096, 4096, precision="fp8"), once)
        forward = device.attention(32, 4096, 128)
        self.assertLess(forward, device.attention(32, 4096, 128, kernel_pass="backward"))
        for wrong in ("input_gradient", "weight_gradient"):
            with self.assertRaisesRegex(ValueError, "expected forward or backward"):
                device.attention(32, 4096, 128, kernel_pass=wrong)
        with self.assertRaisesRegex(ValueError, "expected forward, input_gradient or weight_gradient"):
            device.product(4096, 4096, 4096, kernel_pass="backward")
        with self.assertRaisesRegex(ValueError, "unknown device 'h1000'"):
            stepcast.Device("h1000")
        with self.assertRaisesRegex(ValueError, "no GPU 32 in a cluster of 32"):
            cluster.group([0, 32])
        with self.assertRaisesRegex(ValueError, "unknown collective"):
            group.time("reduce_all", 1)


class Errors(unittest.TestCase):
    def test_every_mistake_is_told_with_its_place_in_the_words_of_the_command_line(self):
        text = "model: llama2-7bb\ncluster: {node: dgx-a100-80gb, nodes: 1}\ntraining: {global_batch: 4}\n"
        with tempfile.TemporaryDirectory() as folder:
            file = os.path.join(folder, "wrong.yaml")
            pathlib.Path(file).write_text(text, encoding="utf-8")
            there = program("simulate", file)
            with self.assertRaises(stepcast.InputError) as caught:
                stepcast.simulate(file)
        self.assertEqual(str(caught.exception), there.stderr.rstrip())
        first = caught.exception.complaints[0]
        self.assertEqual((first.file, first.line, first.column), (file, 1, 8))
        self.assertIn("did you mean 'llama2-70b'", first.text)
        self.assertEqual("\n".join(map(str, caught.exception.complaints)), str(caught.exception))

    def test_places_of_a_dict_are_lines_of_its_text(self):
        with self.assertRaises(stepcast.InputError) as caught:
            stepcast.simulate({**SMALL, "plan": {"tensr": 2}})
        [complaint] = caught.exception.complaints
        self.assertEqual(complaint.file, "scenario")
        line = caught.exception.texts["scenario"].splitlines()[complaint.line - 1]
        self.assertIn("tensr", line)
        again = pickle.loads(pickle.dumps(caught.exception))
        self.assertEqual(str(again), str(caught.exception))
        self.assertEqual(again.complaints, caught.exception.complaints)

    def test_a_wrong_option_is_an_error_of_usage(self):
        with self.assertRaisesRegex(stepcast.UsageError, "--measured soon: "):
            stepcast.simulate(SMALL, measured="soon")
        with self.assertRaisesRegex(stepcast.UsageError, "frames"):
            stepcast.simulate(SMALL, frames=3)
        with self.assertRaisesRegex(stepcast.UsageError, r"output: .*save\(path\)"):
            stepcast.simulate(SMALL, output="kept.json")
        self.assertFalse(os.path.exists("kept.json"))
        with self.assertRaises(stepcast.InputError):
            stepcast.simulate("/no/such/file.yaml")
        with self.assertRaises(TypeError):
            stepcast.simulate(3)
        with self.assertRaises(TypeError):
            stepcast.simulate()
        self.assertTrue(issubclass(stepcast.InputError, ValueError))

    def test_a_command_without_a_page_says_so(self):
        with self.assertRaisesRegex(stepcast.UsageError, "has no page"):
            stepcast.call("catalog list").page()


if __name__ == "__main__":
    unittest.main()
