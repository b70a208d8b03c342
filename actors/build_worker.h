// The worker's side of builds in other processes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "compiler/drivers/driver.h"

namespace nocturne {

// Where a worker finds the door, and by what it is known there.
struct BuildWorkerPass {
  uint16_t port = 0; // of 127.0.0.1
  uint64_t worker = 0;
  std::string token;
};

// The text that a worker is given on its standard input, and back. Throws UsageError for another.
std::string toText(const BuildWorkerPass& pass);
BuildWorkerPass passFromText(std::string_view text, uint16_t port);

// The port of "127.0.0.1:PORT". Throws UsageError for any other machine, because nothing but the
// token guards the connection, and nothing encrypts it.
uint16_t loopbackPort(std::string_view address);

// Lets the process die with the thread that started it, and leave no core file.
void dieWithParent();

// Builds what it is told to until the supervisor is gone. Throws ItemError (tool_failed) when there
// is none.
void serveBuilds(compiler::BuildDriver& driver, const BuildWorkerPass& pass);

} // namespace nocturne
