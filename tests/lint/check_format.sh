#!/bin/sh
# Checks that the tracked C++ files are formatted. Exits with 77 (skipped) where it cannot tell.
cd "$(dirname "$0")/../.." || exit 1
if ! command -v clang-format-22 >/dev/null || ! git rev-parse --git-dir >/dev/null 2>&1; then
  echo "skipped: needs clang-format-22 and a git checkout"
  exit 77
fi
git ls-files -z '*.h' '*.cpp' | xargs -0 -r clang-format-22 --dry-run -Werror
