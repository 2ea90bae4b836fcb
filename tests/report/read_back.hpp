// SPDX-License-Identifier: Apache-2.0
// A launch configuration as files, read back as the job of a scenario.
#pragma once
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "report/document.hpp"
#include "report/launch/launch.hpp"
#include "scenarios/scenario_file.hpp"

namespace tests {

// A folder of its own, removed at the end.
class LaunchFolder {
 public:
  LaunchFolder()
      : path_(std::filesystem::temp_directory_path() /
              ("stepcast_launch_" + std::to_string(::getpid()))) {
    std::filesystem::create_directories(path_);
  }
  ~LaunchFolder() {
    std::error_code wrong;
    std::filesystem::remove_all(path_, wrong);
  }
  LaunchFolder(const LaunchFolder&) = delete;
  LaunchFolder& operator=(const LaunchFolder&) = delete;
  std::filesystem::path write(const std::string& name, const std::string& text) const {
    std::ofstream(path_ / name, std::ios::binary) << text;
    return path_ / name;
  }

 private:
  std::filesystem::path path_;
};

// The file that the framework is started with: of DeepSpeed the script that names all others.
inline std::string started_with(const report::Launch& launch, report::Framework framework) {
  return framework == report::Framework::deepspeed ? "train.sh" : launch.name;
}

// A scenario of the job and of what no job says: cluster and software.
inline forecast::Scenario read_back(const report::Launch& launch, const forecast::Scenario& s,
                                    report::Framework framework) {
  const LaunchFolder folder;
  folder.write(launch.name, launch.text);
  for (const auto& file : launch.beside) folder.write(file.name, file.text);
  const auto document = nlohmann::json::parse(report::scenario_document(s).dump());
  const auto over =
      folder.write("scenario.yaml", "job: " + started_with(launch, framework) +
                                        "\ncluster: " + document.at("cluster").dump() +
                                        "\nsoftware: " + document.at("software").dump() + "\n");
  return scenarios::load_scenario(over);
}

}  // namespace tests
