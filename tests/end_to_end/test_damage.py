"""Damaged files."""

import json
import os
import re
import shlex
import shutil

from program import CELL, SHORT, ProgramTest, main


class Damage(ProgramTest):
    """A damaged file ends the cell that meets it, by name; `verify` finds it as well."""

    VARIANTS = {"jpeg": "jpeg/48x48", "png": "png/48x48", "tensor": "tensor-uint8/48x48"}

    def hurt(self, data, variant, how):
        folder = os.path.join(data, variant, "class_001")
        name = sorted(os.listdir(folder))[3]
        with open(os.path.join(folder, name), "r+b") as file:
            content = file.read()
            changed = how(content)
            file.seek(0)
            file.write(changed)
            file.truncate()
        return f"{variant}/class_001/{name}"

    def check(self, how):
        for kind, variant in self.VARIANTS.items():
            with self.subTest(kind):
                shutil.rmtree(self.path("data"), True)
                data = self.copy_of_data()
                name = self.hurt(data, variant, how)
                words = ("--data", kind, "--dataset", data, *CELL, *SHORT)
                self.refused("run", *words, "--no-ceiling", names=name, code=1, talk=True)
                verified = self.call("verify", data, code=1)
                self.assertIn("damaged: " + name, verified.out)
                self.assertIn("1 damaged", verified.out)
                self.repair(verified, data, name)

    def repair(self, verified, data, name):
        """What `verify` says makes it as it was."""
        (command,) = re.findall(
            r"(?m)^to make them again: feedrate (gen .*--repair)$", verified.out
        )
        self.call(*shlex.split(command))
        self.assertIn("0 damaged", self.call("verify", data).out)
        with open(os.path.join(data, name), "rb") as file:
            content = file.read()
        with open(os.path.join(self.data, name), "rb") as file:
            self.assertEqual(content, file.read())

    def test_shorter(self):
        self.check(lambda content: content[:300])

    def test_as_long_but_cut(self):
        # A tensor's payload can be anything: its damage is in the header.
        self.check(
            lambda content: (
                b"X" * 8 + content[8:]
                if content.startswith(b"FRTENSR1")
                else content[: len(content) // 2] + bytes(len(content) - len(content) // 2)
            )
        )

    def test_a_file_that_is_gone(self):
        data = self.copy_of_data()
        name = self.hurt(data, "jpeg/48x48", lambda content: content)
        os.remove(os.path.join(data, name))
        self.refused(
            "run",
            "--data",
            "jpeg",
            "--dataset",
            data,
            *CELL,
            *SHORT,
            "--no-ceiling",
            names=name,
            code=1,
            talk=True,
        )

    def test_a_link_that_leads_to_itself(self):
        data = self.copy_of_data()
        name = self.hurt(data, "jpeg/48x48", lambda content: content)
        os.remove(os.path.join(data, name))
        os.symlink(os.path.basename(name), os.path.join(data, name))
        verified = self.call("verify", data, code=1)
        self.assertIn(f"damaged: {name}: Too many levels of symbolic links\n", verified.out)
        self.assertIn("1 damaged", verified.out)
        self.repair(verified, data, name)
        loop = self.path("loop")
        os.symlink("loop", loop)
        for words, names in (
            (("verify", loop), "no such folder"),
            (("gen", self.path("made"), "--from", loop), "Too many levels of symbolic links; name"),
            (("gen", os.path.join(loop, "made")), "cannot make the folder"),
        ):
            self.refused(*words, names=[loop, names], code=1)

    def test_tensor_headers(self):
        # dtype, height (negative, and so large that a product overflows), channels, length
        for at, value in (
            (8, b"\x09\0\0\0"),
            (12, b"\xff\xff\xff\xff"),
            (12, b"\0\0\0\x80"),
            (20, b"\x04\0\0\0"),
            (24, b"\xff" * 8),
            (12, b"\x18\0\0\0"),
        ):
            with self.subTest(at=at, value=value):
                shutil.rmtree(self.path("data"), True)
                data = self.copy_of_data()
                name = self.hurt(
                    data, self.VARIANTS["tensor"], lambda c: c[:at] + value + c[at + len(value) :]
                )
                self.refused(
                    "run",
                    "--data",
                    "tensor",
                    "--dataset",
                    data,
                    *CELL,
                    *SHORT,
                    "--no-ceiling",
                    names=os.path.basename(name),
                    code=1,
                    talk=True,
                )

    def test_a_failure_is_told_on_stderr_with_json_too(self):
        data = self.copy_of_data()
        name = self.hurt(data, "jpeg/48x48", lambda content: content[:300])
        answer = self.call(
            "run",
            "--data",
            "jpeg",
            "--dataset",
            data,
            *CELL,
            *SHORT,
            "--no-ceiling",
            "--json",
            code=1,
        )
        self.assertEqual(answer.out.count("\n"), 1, answer)
        record = json.loads(answer.out)
        self.assertEqual((record["status"], record["imgs_per_s"]), ("failed", None))
        self.assertIn(name, record["error"])
        self.assertIn(name, answer.err)

    def test_an_anonymous_failure_names_no_folder_on_the_terminal(self):
        data = self.copy_of_data()
        name = self.hurt(data, "jpeg/48x48", lambda content: content[:300])
        words = ("--data", "jpeg", "--dataset", data, *CELL, *SHORT, "--no-ceiling", "--anonymize")
        err = self.call("run", *words, code=1).err
        self.assertIn("DATASET/" + name, err)
        self.assertNotIn(data, err)

    def test_a_sweep_goes_on_with_the_other_cells(self):
        self.data = self.copy_of_data()
        name = self.hurt(self.data, "jpeg/48x48", lambda content: content[:300])
        for page_cache, roles in (
            ("auto", ["cell", "cell"]),  # each in pairs with its ceiling
            ("cold", ["ceiling", "cell", "cell", "ceiling"]),
        ):
            with self.subTest(page_cache):
                words = ("--page-cache", page_cache)
                answer = self.sweep(*words, data="jpeg,png", output=page_cache, code=1)
                self.assertIn(f"{len(roles) - 1} measured, 1 failed", answer.err)
                records = self.ledger(page_cache)
                self.assertEqual([r["role"] for r in records], roles)
                (failed,) = (r for r in records if r["status"] != "ok")
                self.assertEqual((failed["cell"]["data"], failed["status"]), ("jpeg", "failed"))
                self.assertIn(name, failed["error"])

    def test_the_first_and_the_last_sample_may_be_skipped_too(self):
        data = self.copy_of_data()
        folder = os.path.join(data, "jpeg", "48x48")
        with open(os.path.join(folder, "files.tsv"), encoding="utf-8") as file:
            names = [line.split("\t")[0] for line in file]
        os.remove(os.path.join(folder, names[0]))
        with open(os.path.join(folder, names[-1]), "r+b") as file:
            file.truncate(100)
        words = ("run", "--data", "jpeg", "--dataset", data, *CELL, *SHORT, "--no-ceiling")
        self.refused(*words, names=names[0], code=1, talk=True)
        record = json.loads(self.call(*words, "--on-bad", "skip", "--json").out)
        flags = {flag["name"] for flag in record["flags"]}
        self.assertEqual((record["status"], "bad_samples" in flags), ("ok", True))

    def test_a_damaged_manifest(self):
        data = self.copy_of_data()
        with open(os.path.join(data, "jpeg", "48x48", "files.tsv"), "a", encoding="utf-8") as file:
            file.write("../../../etc/passwd\t0\t1\t0000000000000000\n")
        self.refused(
            "run", "--data", "jpeg", "--dataset", data, *CELL, *SHORT, names="files.tsv", code=1
        )
        with open(os.path.join(data, "dataset.json"), "w", encoding="utf-8") as file:
            file.write("{")
        self.refused(
            "run", "--data", "jpeg", "--dataset", data, *CELL, *SHORT, names="dataset.json", code=1
        )


if __name__ == "__main__":
    main()
