// SPDX-License-Identifier: Apache-2.0
#include "strategies/placement.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <numeric>

namespace strategies {

Placement::Placement(const Plan& plan)
    : tensor_(plan.tensor),
      data_(plan.data),
      pipeline_(plan.pipeline),
      ranks_(plan.tensor * plan.data * plan.pipeline) {
  std::int64_t stride = 1;
  for (Degree degree : plan.rank_order) switch (degree) {
      case Degree::tensor:
        tensor_stride_ = stride;
        stride *= tensor_;
        break;
      case Degree::data:
        data_stride_ = stride;
        stride *= data_;
        break;
      case Degree::pipeline:
        pipeline_stride_ = stride;
        stride *= pipeline_;
        break;
      case Degree::context:
      case Degree::expert:
        break;
    }
}

std::vector<std::int64_t> Placement::tensor_group(std::int64_t rank) const {
  auto where = at(rank);
  std::vector<std::int64_t> group;
  for (where.tensor = 0; where.tensor < tensor_; ++where.tensor) group.push_back(rank_of(where));
  return group;
}

std::vector<std::int64_t> Placement::data_group(std::int64_t rank) const {
  auto where = at(rank);
  std::vector<std::int64_t> group;
  for (where.data = 0; where.data < data_; ++where.data) group.push_back(rank_of(where));
  return group;
}

topology::GroupShape shape_with_siblings(const std::vector<std::int64_t>& gpus,
                                         const topology::Cluster& cluster) {
  auto shape = topology::shape_of(gpus, cluster);
  const auto on_node = std::min<std::int64_t>(cluster.node.gpus, cluster.gpus);
  shape.sharing = static_cast<int>(std::max<std::int64_t>(1, on_node / shape.least_per_node));
  return shape;
}

namespace {

using Colour = std::uint32_t;

// Numbers equal keys alike, in order of first appearance.
template <class Key>
class Numbering {
 public:
  Colour operator()(const Key& key) {
    return seen_.try_emplace(key, static_cast<Colour>(seen_.size())).first->second;
  }
  std::size_t size() const { return seen_.size(); }

 private:
  std::map<Key, Colour> seen_;
};

class Refinement {
 public:
  Refinement(const Placement& placement, const topology::Cluster& cluster)
      : placement_(placement),
        ranks_(static_cast<std::size_t>(placement.ranks())),
        tensor_group_(ranks_),
        data_group_(ranks_),
        colour_(ranks_) {
    Numbering<std::int64_t> tensor_ids, data_ids;
    Numbering<std::array<std::int64_t, 7>> kinds;
    std::vector<Colour> tensor_kind, data_kind;
    Numbering<topology::GroupShape> shapes;
    for (std::size_t r = 0; r < ranks_; ++r) {
      const auto rank = static_cast<std::int64_t>(r);
      auto where = placement.at(rank);
      auto origin = where;
      origin.tensor = 0;
      tensor_group_[r] = tensor_ids(placement.rank_of(origin));
      origin = where;
      origin.data = 0;
      data_group_[r] = data_ids(placement.rank_of(origin));
      if (tensor_group_[r] == tensor_kind.size())
        tensor_kind.push_back(shapes(shape_with_siblings(placement.tensor_group(rank), cluster)));
      if (data_group_[r] == data_kind.size())
        data_kind.push_back(shapes(shape_with_siblings(placement.data_group(rank), cluster)));
      const auto node = rank / cluster.node.gpus;
      colour_[r] = kinds({where.pipeline, tensor_kind[tensor_group_[r]], data_kind[data_group_[r]],
                          next(rank, 1) / cluster.node.gpus == node,
                          next(rank, -1) / cluster.node.gpus == node,
                          partner(rank) / cluster.node.gpus == node, 0});
    }
    tensor_groups_ = tensor_kind.size();
    data_groups_ = data_kind.size();
    count_ = kinds.size();
  }

  std::vector<Colour> stable() {
    for (auto before = count_ - 1; before != count_;) {
      before = count_;
      round();
    }
    return colour_;
  }

 private:
  std::int64_t next(std::int64_t rank, std::int64_t by) const {
    auto where = placement_.at(rank);
    where.pipeline = (where.pipeline + by + placement_.pipeline()) % placement_.pipeline();
    return placement_.rank_of(where);
  }
  // The other end of the tied embedding.
  std::int64_t partner(std::int64_t rank) const {
    auto where = placement_.at(rank);
    where.pipeline = placement_.pipeline() - 1 - where.pipeline;
    return placement_.rank_of(where);
  }

  std::vector<Colour> group_colours(const std::vector<Colour>& group_of, std::size_t groups) const {
    std::vector<std::vector<Colour>> members(groups);
    for (std::size_t r = 0; r < ranks_; ++r) members[group_of[r]].push_back(colour_[r]);
    Numbering<std::vector<Colour>> numbering;
    std::vector<Colour> colours;
    for (auto& group : members) {
      std::ranges::sort(group);
      colours.push_back(numbering(group));
    }
    return colours;
  }

  void round() {
    const auto tensor = group_colours(tensor_group_, tensor_groups_);
    const auto data = group_colours(data_group_, data_groups_);
    Numbering<std::array<Colour, 6>> numbering;
    std::vector<Colour> refined(ranks_);
    const auto colour_at = [&](std::int64_t rank) {
      return colour_[static_cast<std::size_t>(rank)];
    };
    for (std::size_t r = 0; r < ranks_; ++r) {
      const auto rank = static_cast<std::int64_t>(r);
      refined[r] = numbering({colour_[r], tensor[tensor_group_[r]], data[data_group_[r]],
                              colour_at(next(rank, 1)), colour_at(next(rank, -1)),
                              colour_at(partner(rank))});
    }
    colour_ = std::move(refined);
    count_ = numbering.size();
  }

  const Placement& placement_;
  std::size_t ranks_, tensor_groups_ = 0, data_groups_ = 0, count_ = 0;
  std::vector<Colour> tensor_group_, data_group_, colour_;
};

Folding folding_of(std::vector<std::uint32_t> actor_of) {
  Folding folding;
  for (std::size_t rank = 0; rank < actor_of.size(); ++rank) {
    const auto actor = actor_of[rank];
    if (actor == folding.representative.size()) {
      folding.representative.push_back(static_cast<std::int64_t>(rank));
      folding.multiplicity.push_back(0);
    }
    ++folding.multiplicity[actor];
  }
  folding.actor_of = std::move(actor_of);
  return folding;
}

}  // namespace

Folding fold(const Placement& placement, const topology::Cluster& cluster) {
  return folding_of(Refinement(placement, cluster).stable());
}

Folding unfolded(const Placement& placement) {
  std::vector<std::uint32_t> actor_of(static_cast<std::size_t>(placement.ranks()));
  std::iota(actor_of.begin(), actor_of.end(), 0u);
  return folding_of(std::move(actor_of));
}

}  // namespace strategies
