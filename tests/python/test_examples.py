# SPDX-License-Identifier: Apache-2.0
"""Examples in the docstrings of the module."""
import doctest
import os
import re
import shutil
import tempfile
import unittest

import stepcast
from examples import EXAMPLES
from stepcast import _records


class _AnyFigures(doctest.OutputChecker):
    """Figures of a forecast change with the model; their digits and units do not."""

    def check_output(self, want, got, optionflags):
        def shape(text):
            return re.sub(r"\d", "0", re.sub(r"\.\d{4,}", ".all", text))

        return shape(want) == shape(got)


class Examples(unittest.TestCase):
    def test_the_example_of_the_module_runs_as_it_is_shown(self):
        with tempfile.TemporaryDirectory() as folder:
            shutil.copy(EXAMPLES / "gpt3-175b-1024-a100.yaml", os.path.join(folder, "scenario.yaml"))
            text = stepcast.__doc__.replace('"scenario.yaml"', repr(os.path.join(folder, "scenario.yaml")))
            example = doctest.DocTestParser().get_doctest(text, {}, "stepcast", None, 0)
            runner = doctest.DocTestRunner(_AnyFigures())
            runner.run(example)
            self.assertEqual((runner.failures, runner.tries), (0, 4))

    def test_examples_of_quantities_are_exact(self):
        result = doctest.testmod(_records)
        self.assertEqual(result.failed, 0)
        self.assertGreaterEqual(result.attempted, 5)


if __name__ == "__main__":
    unittest.main()
