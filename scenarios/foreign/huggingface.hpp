// SPDX-License-Identifier: Apache-2.0
// A model as Hugging Face's config.json describes it.
#pragma once
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "model/transformer.hpp"
#include "scenarios/documents/file.hpp"

namespace scenarios {

// Vocabularies of labels, and layers that are described one by one, make some files long.
inline constexpr Limits huggingface_limits{.bytes = std::uintmax_t{16} << 20, .nodes = 1'000'000};

// Reads the text of a config.json of a decoder, dense or with experts, or of the part of a larger
// model that reads and writes text. Fields that the file leaves out take the family's defaults;
// `defaulted`, unless null, receives one "field = value: why" for each, and a sentence for each
// approximation; `differences`, unless null, receives the sentences on what the file has and the
// model is read without. Throws Error with the place for text that is not JSON, a missing or
// impossible field, and (unsupported) for a model_type that is not known.
model::Transformer read_huggingface(std::string_view json, const std::string& file_name,
                                    std::vector<std::string>* defaulted,
                                    std::vector<std::string>* differences = nullptr);

// Reads config.json from a file.
model::Transformer load_huggingface(const std::filesystem::path& file,
                                    std::vector<std::string>* defaulted);

}  // namespace scenarios
