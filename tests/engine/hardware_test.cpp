#include "engine/hardware.h"

#include <doctest/doctest.h>

#include "plan_fixture.h"

using namespace nocturne;
using test::mistake;

namespace {

Machine find(const std::string& name, std::vector<std::string>* notes = nullptr,
             const std::string& base = ".") {
  std::vector<std::string> dropped;
  return test::catalog().find(name, base, notes ? *notes : dropped);
}

} // namespace

TEST_CASE("every preset can be read and is named after its file") {
  std::vector<std::string> names = test::catalog().names();
  CHECK(names.size() == 44);
  CHECK(names[29] == "V100_SXM2_32GB");
  CHECK(names[30] == "hespas/A100_PCIe_40GB");
  for (const std::string& name : names) {
    CAPTURE(name);
    Machine machine = find(name);
    CHECK(machine.name == name);
    CHECK(machine.values.at("peak_flops") > 0);
    CHECK(machine.values.contains("source"));
    CHECK(machine.values.contains("confidence"));
    CHECK(machine.values.contains("peak_flops_means"));
  }
}

TEST_CASE("presets have the numbers of the data sheets") {
  Json h100 = find("H100_SXM_80GB").values;
  CHECK(h100["peak_flops"] == 67e12);
  CHECK(h100["per_datatype_flops"]["bf16"] == 989e12);
  CHECK(h100["per_datatype_flops"]["f8E5M2"] == 1979e12);
  CHECK(h100["per_datatype_flops"]["ui8"] == 1979e12);
  CHECK(h100["memory_bandwidth"] == 3.35e12);
  CHECK(h100["tdp_w"] == 700);
  CHECK(h100["date"] == "2026-08");
  Json a100 = find("A100_SXM_80GB").values;
  CHECK(a100["peak_flops"] == 19.5e12);
  CHECK(a100["per_datatype_flops"]["tf32"] == 156e12);
  CHECK(a100["memory_bandwidth"] == 2.039e12);
  CHECK_FALSE(a100["per_datatype_flops"].contains("f8E5M2"));
  Json tpu = find("TPU_v5e_chip").values;
  CHECK(tpu["peak_flops"] == 197e12);
  CHECK(tpu["peak_flops_means"].get<std::string>().starts_with("dense bf16"));
  CHECK(tpu["per_datatype_flops"]["i8"] == 394e12);
  CHECK_FALSE(tpu.contains("tdp_w"));
  Json b200 = find("B200_SXM_180GB").values;
  CHECK(b200["per_datatype_flops"]["bf16"] == 2250e12);
  CHECK(b200["per_datatype_flops"]["f4E2M1FN"] == 9000e12);
  CHECK(find("MI300X").values["per_datatype_flops"]["f8E4M3FNUZ"] == 2614e12);
  CHECK(find("V100_SXM2_32GB").values["memory_capacity"] == 32e9);
}

TEST_CASE("the presets of hespas are as hespas has them") {
  Json a40 = find("hespas/A40_48GB").values;
  CHECK(a40["peak_flops"] == 0.584e12);
  CHECK(a40["per_datatype_flops"]["i8"] == 299.3e12);
  CHECK(a40["per_datatype_flops"]["ui8"] == 299.9e12);
  CHECK(a40["per_datatype_flops"]["si32"] == 37.4e12);
  Json b200 = find("hespas/B200_180GB").values;
  CHECK(b200["per_datatype_flops"]["bf16"] == 4500e12);
  CHECK(b200["per_datatype_flops"].size() == 20);
  CHECK_FALSE(b200["per_datatype_flops"].contains("i32"));
  CHECK(find("hespas/TPUv3").values["memory_bandwidth"] == 429.2e9);
  CHECK_FALSE(find("hespas/MI300X").values.contains("per_datatype_flops"));
}

TEST_CASE("a bare hespas name selects our preset and says what differs") {
  std::vector<std::string> notes;
  CHECK(find("H100_80GB", &notes).name == "H100_SXM_80GB");
  REQUIRE(notes.size() == 1);
  CHECK(notes[0].starts_with("machine H100_80GB: taken to be H100_SXM_80GB; its numbers are not "
                             "those of hespas: peak_flops 67000000000000 (hespas: "
                             "34000000000000)"));
  CHECK(notes[0].ends_with("; use hespas/H100_80GB for the old ones"));
  notes.clear();
  CHECK(find("A100_SXM_80GB", &notes).name == "A100_SXM_80GB");
  CHECK(notes.size() == 1);
  notes.clear();
  CHECK(find("MI300X3D", &notes).name == "hespas/MI300X3D");
  CHECK(notes.size() == 1);
  for (const char* name : {"TPUv3", "V100_32GB", "A40_48GB", "B200_180GB", "H200_141GB"})
    CHECK_FALSE(find(name).name.starts_with("hespas/"));
  notes.clear();
  find("H100_SXM_80GB", &notes);
  find("hespas/H100_80GB", &notes);
  CHECK(notes.empty());
}

TEST_CASE("an unknown machine is named with the nearest") {
  CHECK(mistake([] { find("H100_SMX_80GB"); }) ==
        "there is no machine \"H100_SMX_80GB\"; did you mean \"H100_SXM_80GB\"?");
  CHECK(mistake([] { find("hespas/H100_81GB"); }) ==
        "there is no machine \"hespas/H100_81GB\"; did you mean \"hespas/H100_80GB\"?");
  CHECK(mistake([] { find("../configs/hardware/A40"); }) != "");
  CHECK(mistake([] { find(""); }) != "");
  std::vector<std::string> notes;
  CHECK(mistake([&] { MachineCatalog("/nowhere").find("A40", ".", notes); }) ==
        "there is no machine \"A40\"; there are no presets in '/nowhere'");
}

TEST_CASE("machines are read from files, relative to where they are named") {
  test::ScratchDir folder;
  folder.write("ours.json", R"({"memory_bandwidth": 1e12, "peak_flops": "2e12"})");
  Machine machine = find("ours.json", nullptr, folder.path());
  CHECK(machine.name == "ours");
  CHECK(machine.values == Json({{"memory_bandwidth", 1e12}, {"peak_flops", 2e12}}));
  std::string bad = folder.write("bad.json", R"({"memory_bandwith": 1e12})");
  CHECK(mistake([&] { find(bad); }) ==
        bad + ": /memory_bandwith: a machine has no key \"memory_bandwith\"; did you mean "
              "\"memory_bandwidth\"?");
}

TEST_CASE("mistakes in a machine have their place") {
  auto parse = [](const char* text) {
    return mistake([&] { parseMachine(Json::parse(text), "/hardware/0"); });
  };
  CHECK(parse("3") == "/hardware/0: expected a machine (an object), not 3");
  CHECK(parse("{}") == "/hardware/0: the machine does not say its memory_bandwidth");
  CHECK(parse(R"({"memory_bandwidth": 0})") ==
        "/hardware/0/memory_bandwidth: expected a positive number, not 0");
  CHECK(parse(R"({"memory_bandwidth": 1, "per_datatype_flops": {"bf61": 1}})") ==
        "/hardware/0/per_datatype_flops: there is no element type \"bf61\"; did you mean "
        "\"bf16\"?");
  CHECK(parse(R"({"memory_bandwidth": 1, "year": "now"})").starts_with("/hardware/0/year: "));
  CHECK(parse(R"({"memory_bandwidth": 1, "compute_scale": 2})")
            .starts_with("/hardware/0/compute_scale: "));
}

TEST_CASE("scales multiply what they scale and are gone then") {
  Machine machine{"m",
                  {{"peak_flops", 2},
                   {"per_datatype_flops", {{"bf16", 8}, {"f32", 2}}},
                   {"memory_bandwidth", 3},
                   {"compute_scale", 2},
                   {"bandwidth_scale", 0.5}}};
  applyScales(machine);
  CHECK(machine.values == Json({{"peak_flops", 4.0},
                                {"memory_bandwidth", 1.5},
                                {"per_datatype_flops", {{"bf16", 16.0}, {"f32", 4.0}}}}));
  Machine flat{"m", {{"memory_bandwidth", 3}, {"compute_scale", 2}}};
  applyScales(flat);
  CHECK(flat.values == Json({{"memory_bandwidth", 3}}));
}

TEST_CASE("presets are found by the environment or in the source tree") {
  CHECK(std::filesystem::is_directory(defaultConfigDirectory() + "/hardware"));
  setenv("NOCTURNE_CONFIGS", "/elsewhere", 1);
  CHECK(defaultConfigDirectory() == "/elsewhere");
  unsetenv("NOCTURNE_CONFIGS");
  CHECK(machineKeys().front() == "name");
}
