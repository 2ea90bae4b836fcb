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

bool has_pairs(const topology::Cluster& cluster) {
  return cluster.node.nvlink.kind == topology::NvLink::Kind::pairs;
}

// What the time of a message depends on: another node, the same, or the same NVLink pair.
std::int64_t nearness(std::int64_t a, std::int64_t b, const topology::Cluster& cluster) {
  if (a / cluster.node.gpus != b / cluster.node.gpus) return 0;
  return has_pairs(cluster) && a / 2 == b / 2 ? 2 : 1;
}

class Refinement {
 public:
  Refinement(const Placement& placement, const topology::Cluster& cluster)
      : placement_(placement),
        period_(period_of(placement, cluster)),
        ranks_(first_block(placement, period_)),
        colour_(ranks_.size()) {
    for (std::size_t i = 0; i < ranks_.size(); ++i) index_[ranks_[i]] = static_cast<Colour>(i);
    Numbering<std::int64_t> tensor_ids, data_ids;
    Numbering<std::array<std::int64_t, 6>> kinds;
    Numbering<topology::GroupShape> shapes;
    std::vector<Colour> tensor_kind, data_kind;
    for (std::size_t i = 0; i < ranks_.size(); ++i) {
      const auto rank = ranks_[i];
      const auto where = placement.at(rank);
      tensor_group_.push_back(tensor_ids(placement.rank_of({0, where.data, where.pipeline})));
      data_group_.push_back(data_ids(placement.rank_of({where.tensor, 0, where.pipeline})));
      if (tensor_group_[i] == tensor_kind.size())
        tensor_kind.push_back(shapes(shape_with_siblings(placement.tensor_group(rank), cluster)));
      if (data_group_[i] == data_kind.size())
        data_kind.push_back(shapes(shape_with_siblings(placement.data_group(rank), cluster)));
      const auto here = [&](std::int64_t other) { return nearness(rank, other, cluster); };
      colour_[i] = kinds({where.pipeline, tensor_kind[tensor_group_[i]], data_kind[data_group_[i]],
                          here(next(rank, 1)), here(next(rank, -1)), here(partner(rank))});
    }
    count_ = kinds.size();
  }

  Folding stable() {
    for (auto before = count_ - 1; before != count_;) {
      before = count_;
      round();
    }
    return {placement_, period_, colour_};
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

  // Each group's colour: which colours its members have, and how often.
  std::vector<Colour> group_colours(const std::vector<Colour>& group_of) const {
    std::vector<std::vector<Colour>> members;
    for (std::size_t i = 0; i < ranks_.size(); ++i) {
      if (group_of[i] >= members.size()) members.resize(group_of[i] + 1);
      members[group_of[i]].push_back(colour_[i]);
    }
    Numbering<std::vector<Colour>> numbering;
    std::vector<Colour> colours;
    for (auto& group : members) {
      std::ranges::sort(group);
      colours.push_back(numbering(group));
    }
    return colours;
  }

  void round() {
    const auto tensor = group_colours(tensor_group_);
    const auto data = group_colours(data_group_);
    Numbering<std::array<Colour, 6>> numbering;
    std::vector<Colour> refined(ranks_.size());
    // Pipeline neighbours belong to the same replica, so to the same block.
    const auto colour_at = [&](std::int64_t rank) { return colour_[index_.at(rank)]; };
    for (std::size_t i = 0; i < ranks_.size(); ++i) {
      const auto rank = ranks_[i];
      refined[i] = numbering({colour_[i], tensor[tensor_group_[i]], data[data_group_[i]],
                              colour_at(next(rank, 1)), colour_at(next(rank, -1)),
                              colour_at(partner(rank))});
    }
    colour_ = std::move(refined);
    count_ = numbering.size();
  }

  const Placement& placement_;
  std::int64_t period_;
  std::vector<std::int64_t> ranks_;
  std::map<std::int64_t, Colour> index_;
  std::size_t count_ = 0;
  std::vector<Colour> tensor_group_, data_group_, colour_;
};

}  // namespace

std::int64_t period_of(const Placement& placement, const topology::Cluster& cluster) {
  const std::int64_t per_node =
      has_pairs(cluster) ? std::lcm<std::int64_t>(cluster.node.gpus, 2) : cluster.node.gpus;
  const auto period = per_node / std::gcd(per_node, placement.data_stride());
  return placement.data() % period == 0 ? period : placement.data();
}

std::vector<std::int64_t> first_block(const Placement& placement, std::int64_t period) {
  std::vector<std::int64_t> ranks;
  for (std::int64_t p = 0; p < placement.pipeline(); ++p)
    for (std::int64_t d = 0; d < period; ++d)
      for (std::int64_t t = 0; t < placement.tensor(); ++t)
        ranks.push_back(placement.rank_of({t, d, p}));
  std::ranges::sort(ranks);
  return ranks;
}

Folding::Folding(const Placement& placement, std::int64_t period,
                 const std::vector<std::uint32_t>& actors)
    : placement_(placement),
      period_(period),
      ranks_(first_block(placement, period)),
      actor_of_(ranks_.size()) {
  for (std::size_t i = 0; i < ranks_.size(); ++i) {
    actor_of_[index_of(ranks_[i])] = actors[i];
    if (actors[i] == representative_.size()) {
      representative_.push_back(ranks_[i]);
      multiplicity_.push_back(0);
    }
    multiplicity_[actors[i]] += placement.data() / period;
  }
}

std::size_t Folding::index_of(std::int64_t rank) const {
  const auto where = placement_.at(rank);
  return static_cast<std::size_t>(
      where.tensor + placement_.tensor() * (where.data % period_ + period_ * where.pipeline));
}

Folding fold(const Placement& placement, const topology::Cluster& cluster) {
  return Refinement(placement, cluster).stable();
}

Folding unfolded(const Placement& placement) {
  std::vector<std::uint32_t> actors(static_cast<std::size_t>(placement.ranks()));
  std::iota(actors.begin(), actors.end(), 0u);
  return {placement, placement.data(), actors};
}

}  // namespace strategies
