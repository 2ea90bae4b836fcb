// SPDX-License-Identifier: Apache-2.0
// scenarios/calibration.yaml: the figures to fit and the measurements to fit them to. Starts and
// prior widths stand there, so that a fit does not depend on the results of an earlier one.
#pragma once
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "scenarios/documents/cursor.hpp"

namespace scenarios {

// One figure of a catalog file.
struct FittedKey {
  std::string file;  // relative to scenarios/catalog: "software/nemo.yaml"
  std::string key;   // "step_overhead", "efficiency.memory"
  std::string unit;  // as the file writes it: "us"; empty: a plain number
  std::string meaning;
  double start = 0, low = 0, high = 0;  // in that unit
  double width = 0;                     // prior width, one sigma: of the logarithm, or in the unit
  bool logarithmic = true;
};

// A data set of published runs, by its step times, its memory or its passes (of a stage or of a
// layer), or a table of measured collectives.
struct CalibrationSet {
  enum class Measure { time, memory, passes, collectives };
  std::string name;
  std::int64_t every = 1;  // takes one of so many rows: a large set is quick
  Measure measure = Measure::time;
};

struct Calibration {
  double noise = 0.08;  // error that nobody would wonder at, a logarithm
  std::vector<CalibrationSet> sets;
  std::vector<FittedKey> keys;
};

// Throws Error with every mistake: unknown keys, files that the catalog lacks, figures that a file
// of that kind does not have or cannot take, bounds the wrong way round.
// `sets` are "path.to.key=value", applied to the document first.
Calibration read_calibration(std::string_view text, const std::string& file_name,
                             std::span<const std::string> sets = {});
Calibration load_calibration(const std::filesystem::path& file,
                             std::span<const std::string> sets = {});

// "40 us", "0.75": the shortest text of exactly this number, and of it to three digits.
std::string exact_text(const FittedKey& key, double value);
double rounded(double value);

// The name of the entry that the file is, as Reading has it: "software/nemo".
std::string entry_of(std::string_view file);

// The catalog with values of one's own for the fitted keys.
class FittedCatalog {
 public:
  // Files are read from the folder where it has them, and else as the program carries them.
  FittedCatalog(Calibration calibration, const std::filesystem::path& folder);

  // One value for each key. Files whose values were the same before are not parsed again.
  Entries entries(const std::vector<double>& values);
  // Returns the texts of the fitted files by path, with values to three digits.
  std::map<std::string, std::string> texts(const std::vector<double>& values) const;

 private:
  struct File {
    std::string path, text;
    std::vector<std::size_t> keys;  // indices into Calibration::keys
    std::map<std::vector<double>, std::shared_ptr<const Value>> known;
  };
  std::string changed(const File& file, const std::vector<double>& values) const;

  Calibration calibration_;
  std::vector<File> files_;
  Entries entries_;
};

}  // namespace scenarios
