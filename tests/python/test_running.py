# SPDX-License-Identifier: Apache-2.0
"""The behaviour of calls in a program: threads, Ctrl-C, other processes."""
import multiprocessing
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
import unittest
from concurrent.futures import ThreadPoolExecutor

import stepcast
from examples import EXAMPLES, GRID, QUESTION, SMALL, without_wall

LONG = EXAMPLES / "gpt3-175b-search-4096-a100.yaml"


def time_of(micro_batch):
    return float(stepcast.simulate(SMALL, plan={"micro_batch": micro_batch}).step.time_s)


def interrupted(call):
    """Whether Ctrl-C ends a call that would go on for long."""
    timer = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    try:
        call()
    except KeyboardInterrupt:
        return True
    finally:
        timer.join()
    return False


class Interrupts(unittest.TestCase):
    def test_ctrl_c_ends_a_search_a_sweep_and_a_simulation(self):
        self.assertTrue(interrupted(lambda: stepcast.search(LONG, search={"gap": 0})))
        grid = {**GRID, "vary": {"plan.micro_batch": [1, 2, 4], "training.global_batch": list(range(16, 16000, 16))}}
        self.assertTrue(interrupted(lambda: stepcast.sweep(grid)))
        self.assertTrue(interrupted(lambda: stepcast.simulate(
            EXAMPLES / "gpt3-175b-1024-a100.yaml", full=True, training={"global_batch": 4096})))
        self.assertGreater(stepcast.simulate(SMALL).step.time_s, 0)  # the program goes on

    def test_the_handler_of_ctrl_c_stays_pythons(self):
        before = signal.getsignal(signal.SIGINT)
        stepcast.search(QUESTION)
        stepcast.sweep(GRID)
        self.assertIs(signal.getsignal(signal.SIGINT), before)
        with self.assertRaises(KeyboardInterrupt):
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(5)

    def test_a_process_that_leaves_a_call_behind_ends_well(self):
        code = ("import stepcast, os, signal, threading\n"
                "threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()\n"
                f"try: stepcast.simulate({str(EXAMPLES / 'gpt3-175b-1024-a100.yaml')!r}, full=True, "
                "training={'global_batch': 4096})\n"
                "except KeyboardInterrupt: print('interrupted')\n")
        run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
        self.assertEqual((run.returncode, run.stdout, run.stderr), (0, "interrupted\n", ""))


class Threads(unittest.TestCase):
    def test_calls_of_many_threads_answer_as_one_would(self):
        wanted = [time_of(size) for size in (1, 2, 4)]
        with ThreadPoolExecutor(6) as pool:
            got = list(pool.map(time_of, [1, 2, 4] * 8))
        self.assertEqual(got, wanted * 8)

    def test_searches_and_sweeps_run_beside_each_other(self):
        search, sweep = stepcast.search(QUESTION), stepcast.sweep(GRID)
        with ThreadPoolExecutor(4) as pool:
            searches = [pool.submit(stepcast.search, QUESTION) for _ in range(3)]
            sweeps = [pool.submit(stepcast.sweep, GRID) for _ in range(3)]
            for one in searches:
                self.assertEqual(without_wall(one.result().to_dict()), without_wall(search.to_dict()))
            for one in sweeps:
                self.assertEqual(one.result(), sweep)

    def test_pythons_lock_is_free_while_a_call_computes(self):
        counted, over = [], threading.Event()

        def count():
            while not over.is_set():
                counted.append(None)
                time.sleep(0.001)

        thread = threading.Thread(target=count)
        thread.start()
        seen = []
        stepcast.search(LONG, threads=1, progress=lambda said: seen.append(len(counted)) or len(seen) < 4)
        over.set()
        thread.join()
        self.assertGreater(seen[-1], seen[0])

    def test_time_limits_of_searches_are_their_own(self):
        with ThreadPoolExecutor(2) as pool:
            short = pool.submit(stepcast.search, LONG, search={"gap": 0, "time_limit": "0.2s"})
            whole = pool.submit(stepcast.search, QUESTION)
            self.assertTrue(short.result().interrupted)
            self.assertFalse(whole.result().interrupted)


class Processes(unittest.TestCase):
    def test_a_pool_of_processes_answers_whether_forked_or_spawned(self):
        wanted = [time_of(size) for size in (1, 2, 4)]
        for method in ("fork", "spawn"):
            with self.subTest(method), multiprocessing.get_context(method).Pool(2) as pool:
                self.assertEqual(pool.map(time_of, [1, 2, 4]), wanted)
                answers = pool.map(stepcast.simulate, [SMALL, SMALL])
                self.assertEqual(without_wall(answers[0].to_dict()), without_wall(stepcast.simulate(SMALL).to_dict()))

    def test_errors_come_back_from_other_processes(self):
        with multiprocessing.get_context("fork").Pool(1) as pool:
            with self.assertRaises(stepcast.InputError) as caught:
                pool.apply(stepcast.simulate, ({**SMALL, "plan": {"tensr": 2}},))
        self.assertEqual(len(caught.exception.complaints), 1)
        self.assertEqual(pickle.loads(pickle.dumps(caught.exception)).complaints, caught.exception.complaints)


if __name__ == "__main__":
    unittest.main()
