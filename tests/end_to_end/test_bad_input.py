"""What users type wrong, and what the machine lacks."""

import json
import os
import re
import shlex
import shutil
import subprocess
import unittest

from program import CELL, ROOT, SHORT, SMALL, ProgramTest, main, program


class BadInput(ProgramTest):
    """One line that names the thing; 2 for what was typed wrong, 1 for what the machine lacks."""

    def cell(self, *more):
        return (
            "run",
            "--data",
            "jpeg",
            "--dataset",
            self.data,
            "--input-size",
            "48",
            "--device",
            "emulated:2000",
            "--batch-size",
            "8",
            *SHORT,
            *more,
        )

    def test_a_burn_that_is_longer_than_its_step(self):
        """The host would set the rate, and not the device that was asked for."""
        cell = ("--data", "jpeg", "--dataset", self.data, *SMALL, "--batch-size", "8")
        burns = (*cell, "--device", "emulated:1000", "--host-cpu-ms", "10")
        names = [
            "--host-cpu-ms 10: is longer than a step of 8.0 ms (8 images at 1,000 img/s)",
            "; use a larger --batch-size, or a smaller --host-cpu-ms",
        ]
        for command in (["run"], ["sweep", "-o", self.path("out")], ["jobs", "--copies", "2"]):
            self.refused(*command, *burns, *SHORT, names=names)
        self.refused("diagnose", *burns, "--budget", "10s", names=names, talk=True)
        warm = ("--page-cache", "warm", "--decoder", "raw-read", "--no-client")
        self.refused("capacity", *burns, *warm, names=names, talk=True)
        self.refused("run", *burns[:-1], "eager", *SHORT, names="--host-cpu-ms 55: ")
        self.refused("run", *burns[:-1], "grph", *SHORT, names="or graph, eager, auto")
        for fits in (("--device", "emulated:inf"), ("--host-cpu-ms", "graph")):
            words = [*burns, *SHORT, "--no-ceiling"]
            words[words.index(fits[0]) + 1] = fits[1]
            self.call("run", *words)

    def test_datasets_that_are_not_there(self):
        self.refused("run", "--data", "jpeg", *CELL, *SHORT, names="--dataset")
        self.refused(
            "run",
            "--data",
            "jpeg",
            "--dataset",
            "nowhere",
            *CELL,
            *SHORT,
            names=["nowhere", "feedrate gen"],
            code=1,
        )
        self.refused(
            "run",
            "--data",
            "jpeg",
            "--dataset",
            self.folder,
            *CELL,
            *SHORT,
            names=[self.folder, "feedrate gen"],
            code=1,
        )
        self.refused("verify", "nowhere", names="nowhere: no such folder", code=1)
        os.mkdir(self.path("photos"))
        said = self.refused(
            *("run", "--data", "jpeg", "--dataset", "phots", *CELL, *SHORT),
            names="phots: no such folder; did you mean photos?",
            code=1,
        )
        self.assertNotIn("make it", said, "one remedy")
        unread = [f"--dataset {self.data}", "is not read", "--data jpeg"]
        self.refused("run", "--dataset", self.data, "--device", "emulated:1", names=unread)
        os.mkdir(self.path("empty"))
        self.write("texts.zip", "")
        for dataset, names in (
            ("empty", "empty: holds no files"),
            ("texts.zip", "texts.zip: is an archive, no folder; unpack first"),
            ("s3://bucket/photos", "s3://bucket/photos: is a URL"),
            ("phots", "phots: no such folder; did you mean photos?"),
        ):
            for command in (["run"], ["sweep", "-o", self.path("out")]):
                words = (*command, "--dataset", dataset, "--device", "emulated:1")
                self.refused(*words, names=names, code=1)
        self.refused("verify", "empty", names="empty: holds no files; give the folder", code=1)
        self.write("notes.txt", "")
        said = self.refused("verify", self.folder, names="holds no .jpg or ", code=1)
        self.assertEqual(said.count(".png "), 1, "of png and png0")
        self.refused("doctor", "--nowhere", names="--nowhere")

    def test_variants_that_are_not_there(self):
        self.refused(
            *self.cell("--image-size", "96"),
            names=["jpeg/96x96", "jpeg/48x48", "feedrate gen"],
            code=1,
        )
        self.refused(
            "run",
            "--data",
            "tensor",
            "--dataset",
            self.data,
            *CELL,
            "--tensor-dtype",
            "fp16",
            names=["tensor-fp16/48x48", "feedrate gen"],
            code=1,
        )

    def test_values_that_no_axis_takes(self):
        for axis, value in (
            ("data", "gif"),
            ("cache", "all"),
            ("workers", "-1"),
            ("workers", "two"),
            ("workers", "2.5"),
            ("workers", "99999999999"),
            ("gpus", "0"),
            ("batch-size", "0"),
            ("image-size", "48x"),
            ("image-size", "0"),
            ("input-size", "9000"),
            ("loader", "magic"),
            ("container", "zip"),
            ("precision", "fp8"),
            ("model", "vgg"),
            ("prefetch", "0"),
            ("page-cache", "hot"),
            ("device", "tpu"),
            ("device", "emulated:z9"),
            ("device", "emulated:-5"),
            ("device", "emulated:"),
        ):
            with self.subTest(axis=axis, value=value):
                words = [*self.cell("--image-size", "48")]
                if "--" + axis in words:
                    at = words.index("--" + axis)
                    del words[at : at + 2]
                self.refused(*words, f"--{axis}={value}", names=["--" + axis, value])

    def test_words_that_are_none(self):
        self.refused("run", "--nonsense", names="--nonsense")
        self.refused("frobnicate", names="frobnicate")
        self.refused(names="subcommand")
        self.refused("list", "colour", names="colour")
        self.refused("gen", names="DATA")
        self.refused(*self.cell("--image-size", "48,96"), names=["one cell", "feedrate sweep"])
        self.refused("sweep", "--data", "synthetic", *CELL, names="--output")

    def test_what_was_meant_is_asked(self):
        for words, meant in (
            (("swep",), "did you mean sweep?"),
            (("rnak",), "`feedrate --help` lists them"),  # a command that is not for typing
            (("run", "--worker", "2"), "did you mean --workers?"),
            (("run", "--imagesize=48"), "did you mean --image-size?"),
            (("run", "--num-workers", "2"), "expected: --num-workers 2; did you mean --workers?"),
            (("run", "--device", "emulated"), "--device emulated: does not say how fast"),
            (("gen", "d", "--format", "jpg"), "did you mean jpeg?"),
            (("sweep", "--num_workers=2"), "did you mean --workers?"),
            (("diagnose", "--batch", "8"), "did you mean --batch-size?"),
            (("sweep", *CELL, "--where", "num_workers=2"), "did you mean workers?"),
            (("run", "--device", "h200"), "use cuda, or emulated:h200"),
            (("run", "--device", "GPU"), "use cuda, or emulated:a100"),
            (("sweep", "--workers", "1-8"), "--workers 1,2,4,8"),
            (("help", "swep"), "did you mean sweep?"),
            (("gen", "d", "--fromat", "jpeg"), "did you mean --format?"),
            (("run", *CELL, "--data", "jpg"), "did you mean jpeg?"),
            (("sweep", *CELL, "--where", "worker=2"), "did you mean workers?"),
        ):
            with self.subTest(words):
                self.refused(*words, names=meant)

    def test_help_is_a_word_too(self):
        for words, same in (
            (("help",), ("--help",)),
            (("help", "run"), ("run", "--help")),
            (("help", "report"), ("report", "--help")),
        ):
            with self.subTest(words):
                self.assertEqual(self.call(*words).out, self.call(*same).out)

    def test_a_folder_of_pictures_is_no_folder_of_results(self):
        flat = self.path("flat")
        os.mkdir(flat)
        shutil.copy(self.a_picture(), os.path.join(flat, "one.jpg"))
        classes = os.path.join(self.data, "jpeg", "48x48")
        tensors = self.path("tensors")
        self.call("gen", tensors, "--count", "4", "--classes", "2", "--format", "png", *SMALL)
        for folder, data in (
            (self.data, "--data jpeg "),
            (tensors, "--data png "),
            (classes, ""),
            (flat, ""),
        ):
            for command in ("report", "validate"):
                said = self.refused(command, folder, names=[folder, "holds pictures"], code=1)
                self.assertNotIn("sweep -o " + folder, said)
                self.assertIn(f"feedrate run {data}--dataset {folder}`", said)
        os.mkdir(self.path("results"))
        said = self.refused("report", "result", names="result: no such folder", code=1)
        self.assertTrue(said.endswith("; did you mean results?"), said)
        self.refused("report", "results", names="sweep -o results", code=1)

    def test_of_several_sizes_the_command_names_one(self):
        data = self.path("several")
        words = ("--image-size", "32,48", "--detail", "low,high", "--input-size", "32")
        self.call("gen", data, "--count", "8", "--classes", "2", "--format", "jpeg", *words)
        said = self.refused("report", data, names=[data, "holds pictures"], code=1)
        command = shlex.split(re.search(r"`feedrate (run .*)`", said)[1])
        cell = ("--device", "emulated:2000", "--batch-size", "4", "--input-size", "32", *SHORT)
        record = json.loads(self.call(*command, *cell, "--no-ceiling", "--json").out)
        named = dict(zip(command[1::2], command[2::2], strict=True))
        size, detail = named["--image-size"], named["--detail"]
        self.assertEqual(record["dataset"]["variant"], f"jpeg/{size}-{detail}")

    def test_a_folder_of_results_is_no_folder_of_pictures(self):
        for name in ("r1", "r2"):
            os.makedirs(self.path("results", name, "report"))
            shutil.copy(self.a_picture(), self.path("results", name, "report", "figure.jpg"))
            self.write(f"results/{name}/ledger.jsonl", "")
        names = "results: holds no ledger.jsonl itself; name a folder in it: r1, r2"
        self.refused("validate", "results", names=names, code=1)
        answer = self.call("report", "results", code=1)  # a report for each, and a line for each
        for name in ("r1", "r2"):
            self.assertIn(f"results/{name}/ledger.jsonl: the ledger holds no result", answer.err)
        os.makedirs(self.path("all", "kinds"))
        os.rename(self.path("results"), self.path("all", "kinds", "results"))
        self.refused("report", "all", names="all: holds no ledger.jsonl; measure first", code=1)

    def a_picture(self):
        folder = os.path.join(self.data, "jpeg", "48x48", "class_000")
        return os.path.join(folder, min(os.listdir(folder)))

    def test_a_size_too_large_names_the_limit(self):
        for words in (
            self.cell("--image-size", "100000x100000"),
            ["gen", self.path("d"), "--image-size", "100000x100000"],
            ["gen", self.path("d"), "--image-size", "99999999999"],
        ):
            self.refused(*words, names=["larger than this program takes", "8192"])

    def test_a_precision_that_concerns_no_cell(self):
        self.refused(
            *self.cell("--image-size", "48", "--precision", "fp32"),
            names=["--precision fp32", "emulated"],
        )

    def test_numbers_out_of_range(self):
        for option, value in (
            ("--min-seconds", "abc"),
            ("--min-seconds", "-1"),
            ("--min-seconds", "0"),
            ("--warmup-seconds", "-1"),
            ("--min-steps", "x"),
            ("--seed", "x"),
            ("--seed", "-1"),
            ("--max-seconds", "0"),
            ("--max-seconds", "inf"),
            ("--min-seconds", "inf"),
            ("--min-seconds", "nan"),
            ("--stall-seconds", "inf"),
        ):
            with self.subTest(option=option, value=value):
                self.refused("run", *CELL, f"{option}={value}", names=[option, value])
        self.refused("sweep", *CELL, "--repetitions", "0", names=["--repetitions", "0"])

    def test_a_longest_window_shorter_than_the_shortest(self):
        limits = ("--min-seconds", "5", "--max-seconds", "2")
        self.refused(
            "run", *CELL, *limits, names=["--max-seconds 2", "--min-seconds 5", "only one"]
        )

    def test_a_longest_window_alone_is_twice_the_shortest(self):
        """The last pair that would not fit is not begun: the two cannot be the same."""
        for longest in (0.4, 2):
            limits = ("--warmup-seconds", "0.05", "--max-seconds", str(longest))
            record = json.loads(self.call("run", *CELL, *limits, "--json").out)
            self.assertEqual(record["limits"]["min_seconds"], longest / 2)
            self.assertNotIn("short_window", [flag["name"] for flag in record["flags"]])

    def test_a_closed_stream_is_no_ledger(self):
        """Progress is not written into the file that is opened next. A result that has no place to
        go to is a failure."""
        sweep = [program(), *self.sweep_words(*SHORT, data="jpeg,png")]
        for closed in ("0<&-", "1>&-", "2>&-"):
            with self.subTest(closed):
                shutil.rmtree(self.path("ledger"), True)
                words = ["sh", "-c", f'exec "$@" {closed}', "sh", *sweep]
                done = subprocess.run(words, cwd=self.folder, capture_output=True, timeout=60)
                self.assertEqual(done.returncode, 0, done)
                self.assertEqual([r["status"] for r in self.ledger()], ["ok"] * 2)
        words = ["sh", "-c", 'exec "$@" 1>&-', "sh", program(), "list"]
        done = subprocess.run(words, capture_output=True, timeout=60, encoding="utf-8")
        self.assertEqual(done.returncode, 1, done)
        self.assertIn("standard output: could not be written", done.stderr)

    def test_what_gen_cannot_make(self):
        for words, names in (
            (["--format", "gif"], "gif"),
            (["--count", "-4"], "-4"),
            (["--image-size", "0"], "0"),
            (["--quality", "200"], "--quality"),
            (["--tensor-dtype", "int4"], "int4"),
            (["--subsampling", "411"], "411"),
            (["--from", "nowhere", "--format", "jpeg"], "nowhere"),
        ):
            with self.subTest(words=words):
                code = 1 if "nowhere" in words else 2
                self.refused("gen", self.path("d"), *words, names=names, code=code)
                self.assertFalse(os.path.exists(self.path("d")))

    def test_gen_does_not_mix_two_datasets(self):
        data = self.copy_of_data()
        self.refused(
            "gen",
            data,
            "--count",
            "64",
            "--classes",
            "4",
            "--format",
            "bmp",
            *SMALL,
            "--seed",
            "9",
            names=["seed", "9"],
            code=1,
        )

    def test_places_that_cannot_be_written(self):
        for words in (
            ["sweep", "--data", "synthetic", *CELL, "-o", "/dev/null/x"],
            ["run", "--data", "synthetic", *CELL, "-o", "/dev/null/x"],
            ["gen", "/dev/null/x", "--count", "4"],
        ):
            with self.subTest(words=words):
                self.refused(*words, names="/dev/null/x", code=1)
        os.mkdir(self.path("ledger"))
        os.mkdir(self.path("ledger", "ledger.jsonl"))
        self.refused(
            "sweep",
            "--data",
            "synthetic",
            *CELL,
            "-o",
            self.path("ledger"),
            names="ledger.jsonl",
            code=1,
        )

    @unittest.skipIf(os.environ.get("FEEDRATE_TORCH") == "ON", "this build has LibTorch")
    def test_real_devices_in_a_build_without_them(self):
        for device in ("cpu", "cuda"):
            self.refused(
                "run", "--device", device, "--gpus", "64", names=["--device", "emulated"], code=1
            )

    @unittest.skipUnless(os.environ.get("FEEDRATE_TORCH") == "ON", "this build has no LibTorch")
    def test_more_devices_than_there_are(self):
        self.refused("run", "--device", "cpu", "--gpus", "10000", names=["--gpus 10000", "cpu"])

    def test_an_emulated_step_cannot_be_qualified(self):
        for command in ("run", "sweep"):
            self.refused(
                *(command, "--device", "emulated:2000", "--data", "synthetic", "--qualify"),
                names=[
                    "--qualify",
                    "--device emulated:2000 has no step to make faster",
                    "leave it out",
                ],
            )

    @unittest.skipUnless(os.environ.get("FEEDRATE_TORCH") == "ON", "this build has no LibTorch")
    @unittest.skipIf(os.path.exists("/proc/driver/nvidia"), "this machine has a driver")
    def test_a_gpu_without_a_driver(self):
        """LibTorch's CUDA libraries are there: each command says what is missing, of which version,
        and what to do."""
        if "CPUs only" in self.finish(self.start("run", "--device", "cuda")).err:
            self.skipTest("this LibTorch is for CPUs only")
        names = [
            "no NVIDIA driver is loaded",
            "install a driver for CUDA",
            " or newer)",
            "--device cpu",
        ]
        for command in ("run", "sweep", "diagnose"):
            for precision in ("auto", "bf16"):
                with self.subTest(command, precision=precision):
                    words = [command, "--device", "cuda", "--precision", precision]
                    words += ["--data", "synthetic"] if command == "sweep" else []
                    self.refused(*words, names=names, code=1)
        jobs = ["jobs", "--device", "cuda", "--copies", "2", "--dataset", self.data]
        jobs += ["--data", "jpeg", *SMALL]
        self.refused(*jobs, names=names, code=1)
        self.refused("run", "--device", "cuda:1", "--gpus", "2", names=names, code=1)
        doctor = self.finish(self.start("doctor")).out
        self.assertRegex(doctor, r"no NVIDIA GPU or driver\n.*a GPU needs driver \d+ or newer")

    def test_jobs_without_a_dataset(self):
        words = ["jobs", "--copies", "2", "--device", "emulated:1000", "--data", "jpeg"]
        self.refused(*words, names="--dataset: is needed for --data jpeg")

    def test_a_cold_run_wants_data(self):
        self.refused(
            "run",
            "--data",
            "jpeg",
            "--dataset",
            self.data,
            *SMALL,
            "--device",
            "emulated:2000",
            "--batch-size",
            "32",
            "--page-cache",
            "cold",
            names=["jpeg/48x48", "cold"],
            code=1,
        )

    def test_a_report_of_no_folder(self):
        self.refused("report", "nowhere", names=["nowhere", "ledger.jsonl"], code=1)

    def test_a_report_of_an_empty_ledger(self):
        if not program().startswith(os.path.join(ROOT, "build", "")):
            self.skipTest("a build outside the sources does not find the report's package")
        os.mkdir(self.path("empty"))
        self.write("empty/ledger.jsonl", "")
        self.refused("report", self.path("empty"), names="ledger.jsonl", code=1)
        self.assertEqual(os.listdir(self.path("empty")), ["ledger.jsonl"])


if __name__ == "__main__":
    main()
