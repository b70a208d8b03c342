"""What `cmake --install` copies works by itself, wherever it is moved to."""

import os
import shutil
import subprocess

import harness


class Install(harness.SystemTest):
    def test_installed_command_runs_and_finds_its_machines_after_a_move(self):
        subprocess.run([os.environ["NOCTURNE_CMAKE"], "--install", os.environ["NOCTURNE_BUILD"],
                        "--prefix", self.path("first")], check=True, capture_output=True)
        shutil.move(self.path("first"), self.path("moved"))
        command = [self.path("moved", "bin", "nocturne"), "hardware", "list"]
        environment = {name: value for name, value in os.environ.items() if name != "NOCTURNE_CONFIGS"}
        # A machine of our own among the installed ones tells that it is they who are read.
        configs = self.path("moved", "share", "nocturne", "configs")
        shutil.copy(os.path.join(configs, "hardware", "A40.json"),
                    os.path.join(configs, "hardware", "Moved.json"))
        done = subprocess.run(command, env=environment, capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        for name in ("H100_SXM_80GB", "hespas/H100_80GB", "Moved"):
            self.assertIn(name, done.stdout)
        library = self.path("moved", "lib", "libnocturne_estimator.so")
        linked = subprocess.run(["ldd", command[0]], capture_output=True, text=True, check=True).stdout
        lines = [line for line in linked.splitlines() if "libnocturne_estimator.so" in line]
        self.assertEqual(len(lines), 1, linked)
        found = lines[0].split("=>")[1].split()[0]
        self.assertEqual(os.path.realpath(found), os.path.realpath(library))


if __name__ == "__main__":
    harness.main()
