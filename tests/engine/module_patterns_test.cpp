#include "engine/module_patterns.h"

#include <doctest/doctest.h>

#include "plan_fixture.h"

namespace fs = std::filesystem;
using namespace nocturne;
using test::mistake;

namespace {

std::vector<std::string> names(const std::vector<ModuleFile>& files) {
  std::vector<std::string> out;
  for (const ModuleFile& file : files)
    out.push_back(file.name);
  return out;
}

using Names = std::vector<std::string>;

struct Tree : test::ScratchDir {
  Tree() {
    for (const char* name :
         {"b.mlir", "a.mlir", "c.mlirbc", "notes.txt", "m/x.mlir", "m/deep/y.mlir",
          "m/deep/z.mlirbc", ".hidden/h.mlir", "m/.h.mlir", "odd[1].mlir"})
      write(name);
    fs::create_directory(fs::path(path()) / "folder.mlir");
  }
  Names expand(const Names& patterns) const { return names(expandModules(patterns, path())); }
};

} // namespace

TEST_CASE("components match as shells do") {
  CHECK(matchesComponent("*.mlir", "a.mlir"));
  CHECK_FALSE(matchesComponent("*.mlir", "a.mlirbc"));
  CHECK(matchesComponent("a?c", "abc"));
  CHECK_FALSE(matchesComponent("a?c", "ac"));
  CHECK(matchesComponent("*a*b*", "xxaxxbxx"));
  CHECK_FALSE(matchesComponent("*a*b", "xxaxxbx"));
  CHECK(matchesComponent("[a-c]1", "b1"));
  CHECK_FALSE(matchesComponent("[!a-c]1", "b1"));
  CHECK(matchesComponent("[]x]", "]"));
  CHECK(matchesComponent("[a", "[a"));
  CHECK(matchesComponent("\\*", "*"));
  CHECK_FALSE(matchesComponent("\\*", "a"));
  CHECK_FALSE(matchesComponent("*", ".hidden"));
  CHECK(matchesComponent(".*", ".hidden"));
  CHECK(matchesComponent("", ""));
  CHECK_FALSE(matchesComponent("", "a"));
  CHECK_FALSE(matchesComponent("*a*a*a*a*a*a*a*b", std::string(2000, 'a')));
}

TEST_CASE("patterns come as listed, each sorted bytewise, duplicates dropped") {
  Tree tree;
  CHECK(tree.expand({"*.mlir"}) == Names{"a.mlir", "b.mlir", "folder.mlir", "odd[1].mlir"});
  CHECK(tree.expand({"b.mlir", "[ab].mlir", "./a.mlir"}) == Names{"b.mlir", "a.mlir"});
  CHECK(tree.expand({"**/*.mlirbc"}) == Names{"c.mlirbc", "m/deep/z.mlirbc"});
  CHECK(tree.expand({"m/**/*.mlir"}) == Names{"m/deep/y.mlir", "m/x.mlir"});
  CHECK(tree.expand({"m/**"}) == Names{"m/deep/y.mlir", "m/deep/z.mlirbc", "m/x.mlir"});
  CHECK(tree.expand({"**/**/y.mlir"}) == Names{"m/deep/y.mlir"});
  CHECK(tree.expand({"m/../m/x.mlir"}) == Names{"m/x.mlir"});
}

TEST_CASE("a folder means all modules below, and one named like a module means itself") {
  Tree tree;
  CHECK(tree.expand({"m"}) == Names{"m/deep/y.mlir", "m/deep/z.mlirbc", "m/x.mlir"});
  CHECK(tree.expand({"m/"}) == Names{"m/deep/y.mlir", "m/deep/z.mlirbc", "m/x.mlir"});
  CHECK(tree.expand({"folder.mlir"}) == Names{"folder.mlir"});
  CHECK(tree.expand({"."}) == Names{"a.mlir", "b.mlir", "c.mlirbc", "m/deep/y.mlir",
                                    "m/deep/z.mlirbc", "m/x.mlir", "odd[1].mlir"});
}

TEST_CASE("names with special characters can be given as they are") {
  Tree tree;
  CHECK(tree.expand({"odd[1].mlir"}) == Names{"odd[1].mlir"});
  CHECK(tree.expand({"odd\\[1\\]*"}) == Names{"odd[1].mlir"});
}

TEST_CASE("paths open what names describe") {
  Tree tree;
  std::vector<ModuleFile> files = expandModules({"m/x.mlir"}, tree.path());
  CHECK(files.at(0).path == tree.path() + "/m/x.mlir");
  files = expandModules({tree.path() + "/*.mlirbc"}, tree.path() + "/m");
  CHECK(files.at(0).path == tree.path() + "/c.mlirbc");
  CHECK(files.at(0).name == "../c.mlirbc");
  files = expandModules({"../c.mlirbc", "../*.mlirbc"}, tree.path() + "/m");
  CHECK(names(files) == Names{"../c.mlirbc"});
}

TEST_CASE("what matches nothing is a mistake that names the nearest file") {
  Tree tree;
  CHECK(mistake([&] { tree.expand({"m/xx.mlir"}); }) ==
        "there is no file 'm/xx.mlir'; did you mean \"x.mlir\"?");
  CHECK(mistake([&] { tree.expand({"*.onnx"}); }) == "no module matches '*.onnx'");
  CHECK(mistake([&] { tree.expand({"none/**/*.mlir"}); }) == "no module matches 'none/**/*.mlir'");
  CHECK(mistake([&] { tree.expand({""}); }) == "expected a file, folder or pattern");
}

TEST_CASE("links to folders are followed, but not in circles") {
  Tree tree;
  fs::create_directory_symlink(tree.path(), fs::path(tree.path()) / "m" / "up");
  fs::create_directory_symlink(fs::path(tree.path()) / "m" / "deep",
                               fs::path(tree.path()) / "linked");
  CHECK(tree.expand({"**/y.mlir"}) == Names{"linked/y.mlir", "m/deep/y.mlir"});
  fs::create_symlink("nowhere.mlir", fs::path(tree.path()) / "dangling.mlir");
  CHECK(tree.expand({"d*.mlir"}) == Names{"dangling.mlir"}); // it fails alone, later
}
