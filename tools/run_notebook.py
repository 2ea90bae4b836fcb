#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""run_notebook.py NOTEBOOK OUTPUT [--compare]: runs a notebook and writes it with what its cells answer.

docs/notebooks is written so, and CI runs it so: with --compare, what the cells print must be what NOTEBOOK
holds. Pages of --report are left out of the file, for they are large and pages of repositories show none;
figures are pictures of few dots. Needs nbconvert, ipykernel, matplotlib and pandas
(tools/install.sh: notebook_packages, python_packages).
"""
import pathlib
import sys

try:
    import nbformat
    from nbconvert.preprocessors import ExecutePreprocessor
except ImportError as missing:
    sys.exit(f"run_notebook.py: {missing}: install python3-nbconvert, python3-ipykernel, python3-matplotlib and "
             "python3-pandas")

# Pictures that look the same wherever they are drawn, and stay small.
SETTINGS = "%config InlineBackend.figure_formats = ['png']\n%config InlineBackend.rc = {'figure.dpi': 110}\n"


def run(notebook):
    first = nbformat.v4.new_code_cell(SETTINGS)
    notebook.cells.insert(0, first)
    ExecutePreprocessor(timeout=600, kernel_name="python3").preprocess(notebook)
    del notebook.cells[0]
    for number, cell in enumerate(cell for cell in notebook.cells if cell.cell_type == "code"):
        cell.execution_count = number + 1
        cell.metadata.pop("execution", None)
        for output in cell.outputs:
            tidy(output, number + 1)
    notebook.metadata = {"kernelspec": notebook.metadata["kernelspec"], "language_info": {"name": "python"}}
    return notebook


def tidy(output, number):
    if "execution_count" in output:
        output.execution_count = number
    data = output.get("data", {})
    if "<iframe" in data.get("text/html", ""):
        del data["text/html"]


def printed(notebook):
    return [output.text for cell in notebook.cells if cell.cell_type == "code"
            for output in cell.outputs if output.output_type == "stream" and output.name == "stdout"]


def main(source, target, *options):
    notebook = nbformat.read(source, 4)
    before = printed(notebook)
    after = run(notebook)
    pathlib.Path(target).write_text(nbformat.writes(after, 4) + "\n", encoding="utf-8")
    if "--compare" in options and before != printed(after):
        sys.exit(f"{source}: its cells print\n{''.join(printed(after))}and it holds\n{''.join(before)}"
                 f"write it anew: tools/run_notebook.py {source} {source}")


if __name__ == "__main__":
    main(*sys.argv[1:])
