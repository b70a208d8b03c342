// What goes between who asks for a measurement and the process that does it.
#pragma once

#include <string>
#include <string_view>

#include "engine/error.h"
#include "engine/kernel_builder.h"

namespace nocturne::compiler {

// The hidden subcommand that reads a request from standard input and answers in lines: words for
// what it is about to do, and one JSON object at the end.
inline constexpr const char* kMeasureCommand = "measure-module";
inline constexpr std::string_view kBuilding = "building", kRunning = "running";

// Processor, toolchain and way of measuring, as KernelBuilder::environmentText() says them.
std::string measuringEnvironment();
// As the kernel calls the processor, "AMD EPYC 7763 64-Core Processor".
std::string processorName();

// A line of JSON, then the module.
std::string requestText(const MeasureRequest& request);
// Throws ItemError (tool_failed) for what is no request, and when it is of another build of
// nocturne than this or from another processor: its keys would be wrong.
MeasureRequest parseRequest(std::string_view text);

std::string answerText(const Measurement& measurement);
std::string answerText(const Failure& failure);
// Throws the failure that the last line has as ItemError; tool_failed when there is no such line.
Measurement parseAnswer(std::string_view output);

} // namespace nocturne::compiler
