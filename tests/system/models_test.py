"""Whole models, compiled and run, against NumPy in double precision.

The models are not part of the project; without them, or without NumPy, there is nothing to test.
"""

import os
import sys
import unittest

try:
    import numpy
except ImportError:
    sys.exit(77)

import harness
import numpy_reference

MODELS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..", "shared",
                      "corpus", "real")
if not os.path.isdir(MODELS):
    sys.exit(77)


class Models(harness.SystemTest):
    def check(self, name, tolerance=1e-4):
        """Runs twice on the same numbers; results are as NumPy's and the same to the bit."""
        path = os.path.join(MODELS, name + ".mlir")
        with open(path, encoding="utf-8") as file:
            program = numpy_reference.Program(file.read())
        inputs = program.random_inputs(seed=1)
        words = ["execute", path, "--print", "none", "--timeout", "600"]
        for index, value in enumerate(inputs):
            file = self.path(f"input{index}.npy")
            # Rank 0 and booleans as well; the command keeps booleans as NumPy does.
            numpy.save(file, value)
            words += ["--inputs", file]
        for folder in ("first", "second"):
            self.run_command(*words, "--output-dir", folder)
        expected = program.run(inputs)
        for index, value in enumerate(expected):
            first = self.path("first", f"{name}.{index}.npy")
            self.assertEqual(harness.read(first),
                             harness.read(self.path("second", f"{name}.{index}.npy")))
            got = numpy.load(first).astype("f8")
            self.assertEqual(got.shape, value.shape)
            self.assertTrue(numpy.isfinite(got).all(), f"result {index}")
            error = numpy.linalg.norm(got - value)
            self.assertLessEqual(error, tolerance * numpy.linalg.norm(value), f"result {index}")

    def test_perceptron(self):
        self.check("tt-mlir__mnist_inference")

    def test_edge_detection(self):
        self.check("iree__edge_detection")

    def test_training_step_of_a_convolutional_network(self):
        self.check("lean4-mlir__cnn_train_step", tolerance=1e-3)


if __name__ == "__main__":
    harness.main()
