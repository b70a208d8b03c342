#include "estimators/simulator_estimator.h"

#include <algorithm>
#include <filesystem>
#include <fstream>

#include <nlohmann/json.hpp>

#include "engine/number_text.h"
#include "estimators/rules.h"
#include "estimators/systolic_estimator.h"

namespace nocturne {

namespace {

namespace fs = std::filesystem;

bool mentions(const std::string& text, const char* placeholder) {
  return text.find('{' + std::string(placeholder) + '}') != std::string::npos;
}

bool anyMentions(const std::vector<std::string>& words, const char* placeholder) {
  return std::any_of(words.begin(), words.end(),
                     [&](const std::string& word) { return mentions(word, placeholder); });
}

// Whether the words say all three extents of a product.
bool tellExtents(const std::vector<std::string>& words) {
  return anyMentions(words, "m") && anyMentions(words, "k") && anyMentions(words, "n");
}

std::string wholeNumber(double extent, double largest) {
  if (!(extent <= largest))
    failTool("an extent of " + shortest(extent) + " is more than the simulator can be told");
  return std::to_string(static_cast<int64_t>(extent));
}

void writeLayers(const std::string& path, const std::string& text) {
  std::ofstream file(path);
  file << text << '\n';
  file.close();
  if (!file)
    failTool("the layers file cannot be written");
}

void linkInto(const TemporaryFolder& scratch, const std::vector<std::string>& links) {
  for (const std::string& link : links) {
    std::error_code error;
    const fs::path target = fs::absolute(link, error);
    if (error || !fs::exists(target, error))
      failTool("there is no " + link + ", which the simulator expects");
    const fs::path name = (target.has_filename() ? target : target.parent_path()).filename();
    fs::create_symlink(target, fs::path(scratch.path()) / name, error);
    if (error)
      failTool(link + " cannot be linked into the simulator's folder: " + error.message());
  }
}

} // namespace

// Simulations may run in several actors at once: each has a folder of its own, and what a simulator
// says does not depend on how fast it runs.
template <typename T>
void ProductSimulator::declare(EstimatorClass<T>& c) {
  using Self = ProductSimulator;
  c.template extends<RooflineEstimator>().allowMultiprocess().hitsNeedNoModule();
  c.template option<double>("timeout_s", &Self::timeout_, option::positive)
      .defaultValue(600.0)
      .doesNotInfluenceResult()
      .help("deadline of each simulation, in seconds");
  c.template option<double>("largest_output_bytes", &Self::largestOutput_, option::positive)
      .defaultValue(16777216)
      .doesNotInfluenceResult()
      .help("a program that writes more is stopped");
  c.opHandler({"stablehlo.dot_general", "stablehlo.dot"}, &Self::dot);
  c.opHandler({"stablehlo.convolution", "stablehlo.dynamic_conv"}, &Self::convolution);
  c.preRunHook(&Self::startCounting);
  c.moduleMetadataHook(&Self::describeSimulations);
}

void ProductSimulator::setProgram(Program program) {
  program_ = std::move(program);
  saysBatch_ = anyMentions(program_.command, "batch") || mentions(program_.layer, "batch");
}

void ProductSimulator::startCounting(const Module&) {
  simulations_ = 0;
}

Json ProductSimulator::describeSimulations(const ModuleResult&) {
  return {{displayName(), {{"simulations", simulations_}}}};
}

OpResult ProductSimulator::dot(const OpInfo& op) {
  return simulated(op, workOf(op, dotWork));
}

OpResult ProductSimulator::convolution(const OpInfo& op) {
  return simulated(op, workOf(op, convolutionWork));
}

OpResult ProductSimulator::simulated(const OpInfo& op, const Work& work) {
  const std::optional<MatrixProduct> product = matrixProductOf(op);
  if (!product || work.flops == 0)
    return charge(op, work);
  const Question question = questionOf(op, *product);
  OpResult result;
  result.flops = work.flops;
  result.bytes = work.bytes;
  result.datatype = work.type;
  setKnownTime(result, answerTo(question) * question.timesPerOp);
  if (detailsWanted())
    result.metadata = {{"simulated", question.product}, {"times", question.timesPerOp}};
  return result;
}

// Inside a fusion; simulated() has asked just before.
double ProductSimulator::arithmeticSeconds(const OpInfo& op, const OpResult& result) const {
  const std::optional<MatrixProduct> product = matrixProductOf(op);
  if (!product)
    return RooflineEstimator::arithmeticSeconds(op, result);
  const Question question = questionOf(op, *product);
  return answers_.at(question.key()) * question.timesPerOp;
}

std::string ProductSimulator::Question::key() const {
  std::string text = layer;
  for (const std::string& word : command)
    text += '\0' + word;
  return text;
}

ProductSimulator::Question ProductSimulator::questionOf(const OpInfo& op,
                                                        const MatrixProduct& product) const {
  double rows = product.m, columns = product.n;
  if (program_.transposeTall && rows > columns)
    std::swap(rows, columns);
  const std::string m = wholeNumber(rows, program_.largestExtent),
                    k = wholeNumber(product.k, program_.largestExtent),
                    n = wholeNumber(columns, program_.largestExtent);
  const std::string type(name(operandType(operandOf(op, 0), operandOf(op, 1))));
  Placeholders values = {{"m", m}, {"k", k}, {"n", n}, {"type", type}};
  if (saysBatch_)
    values.emplace_back("batch", wholeNumber(product.products, program_.largestExtent));
  Question question;
  question.command = filledIn(program_.command, values);
  question.layer = filledIn(program_.layer, values);
  question.product = m + 'x' + k + " by " + k + 'x' + n + " of " + type;
  question.timesPerOp = saysBatch_ ? 1 : product.products;
  return question;
}

double ProductSimulator::answerTo(const Question& question) {
  const std::string key = question.key();
  const auto known = answers_.find(key);
  if (known != answers_.end())
    return known->second;
  ++simulations_;
  return answers_.emplace(key, ask(question)).first->second;
}

double ProductSimulator::ask(const Question& question) const {
  try {
    const TemporaryFolder scratch;
    const std::string layers = scratch.path() + "/layers.txt";
    writeLayers(layers, question.layer);
    linkInto(scratch, program_.links);
    const ProgramResult result =
        runStep(filledIn(question.command, {{"layers", layers}, {"scratch", scratch.path()}}),
                scratch, limitsOf(stopToken(), timeout_, largestOutput_));
    const std::vector<double> times = timesIn(result, program_.time);
    if (times.size() != 1)
      failTool("the program's output has " + std::to_string(times.size()) +
               " times instead of one");
    return times.front();
  } catch (const ItemError& error) {
    Failure failure = error.failure();
    failure.message += " (simulating " + question.product + ')';
    throw ItemError(failure);
  }
}

void SimulatorEstimator::describe(EstimatorClass<SimulatorEstimator>& c) {
  using Self = SimulatorEstimator;
  c.name("simulator").version(1);
  c.help("contractions and convolutions by a simulator of yours, the rest as a roofline");
  c.option("command", &Self::command_, option::programWords)
      .help("program and arguments for one product [m, k] x [k, n]: {m} {k} {n} {type}; {batch} if "
            "it takes several; {layers} is a file, {scratch} a folder of its own");
  c.option("layer", &Self::layer_, option::text)
      .defaultValue("Matmul {m} {k} {n}")
      .help("what the file {layers} says of a product");
  c.option("links", &Self::links_, option::words)
      .defaultValue(Json::array())
      .help("files and folders that the program expects in its working folder");
  c.option("pattern", &Self::pattern_, option::expression)
      .defaultValue("")
      .help("POSIX extended regular expression; its first group is the time");
  c.option("pointer", &Self::pointer_, option::jsonPointer)
      .defaultValue("")
      .help("JSON pointer to the time in standard output");
  c.option("unit", &Self::setUnit, option::oneOf({"s", "ms", "us", "ns", "cycles"}))
      .defaultValue("s")
      .help("unit of the time; cycles need frequency_hz");
  c.option("frequency_hz", &Self::frequency_, option::nonNegative)
      .defaultValue(0.0)
      .help("cycles per second");
  c.option("transpose_tall", &Self::transposeTall_, option::boolean)
      .defaultValue(false)
      .help("ask for the transposed product where that has fewer rows");
  declare(c);
  c.initHook(&Self::setUp);
}

void SimulatorEstimator::setUnit(const Json& value) {
  secondsPerUnit_ = value == "cycles" ? 0 : secondsPerUnit(value.get<std::string>());
}

void SimulatorEstimator::setUp() {
  if (pattern_.empty() == pointer_.empty())
    throw UsageError("simulator needs one of \"pattern\" and \"pointer\"");
  if ((secondsPerUnit_ == 0) != (frequency_ > 0))
    throw UsageError("simulator needs \"frequency_hz\" with the unit cycles, and only with it");
  const bool byFile = anyMentions(command_, "layers") && tellExtents({layer_});
  if (!byFile && !tellExtents(command_))
    throw UsageError("the command of simulator says nothing of the product: it needs {m}, {k} and "
                     "{n}, or {layers} and a \"layer\" with them");
  const double unit = secondsPerUnit_ == 0 ? 1 / frequency_ : secondsPerUnit_;
  setProgram({command_, layer_, links_, {pattern_, pointer_, unit}, transposeTall_});
}

void CocossimEstimator::describe(EstimatorClass<CocossimEstimator>& c) {
  using Self = CocossimEstimator;
  c.name("cocossim").version(1);
  c.help("contractions and convolutions by the simulator COCOSSim, the rest as a roofline");
  c.listedUnlessOptionsHelp([] { return missingPrograms({"perf_model"}); });
  c.option("cocossim_path", &Self::path_, option::text)
      .defaultValue("perf_model")
      .help("the program");
  c.option("frequency", &Self::frequency_, option::positive)
      .defaultValue(0.94)
      .help("frequency of the array in GHz");
  c.option("chips", &Self::chips_, option::positiveInteger)
      .defaultValue(1)
      .help("number of chips that are simulated");
  c.option("transpose_tall", &Self::transposeTall_, option::boolean)
      .defaultValue(true)
      .help("ask for the transposed product where that has fewer rows: with many rows the program "
            "finds no way to divide its work");
  declare(c);
  c.initHook(&Self::setUp);
}

void CocossimEstimator::setUp() {
  Program program;
  program.command = {path_,
                     "-c",
                     std::to_string(chips_),
                     "-sa_sz",
                     "128",
                     "-vu_sz",
                     "1024",
                     "-ws",
                     "1",
                     "-f",
                     shortest(frequency_),
                     "-i",
                     "{layers}",
                     "-o",
                     "{scratch}/out.txt"};
  program.layer = "Matmul {m} {k} {n}";
  // The program takes the memory's description from the folder it is started in. Ours is another.
  const fs::path found = findProgram(path_);
  std::error_code error;
  for (const fs::path& place : {found, fs::canonical(found, error)})
    if (const fs::path memory = place.parent_path() / "dramsim3";
        program.links.empty() && fs::is_directory(memory, error))
      program.links.push_back(memory.string());
  // The sign is written as one of two characters.
  program.time = {"Time:[[:space:]]*([0-9.eE+-]+)[[:space:]]*(\u00b5|\u03bc|u)s", "", 1e-6};
  program.transposeTall = transposeTall_;
  program.largestExtent = 0x7fffffff; // it reads 32 bits
  setProgram(std::move(program));
}

} // namespace nocturne
