// SPDX-License-Identifier: Apache-2.0
// The parts of the program that the package stepcast needs: calls, costs, and Arrow's C stream.
#include <pybind11/functional.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <numeric>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "library/call.hpp"
#include "library/costs.hpp"
#include "python/arrow.hpp"
#include "topology/words.hpp"

namespace py = pybind11;

namespace {

using Task = std::function<void(std::stop_token)>;

// One piece of work on a thread of its own, so that the thread that called can heed Ctrl-C.
struct Work {
  std::mutex mutex;
  std::condition_variable over;
  bool done = false;
  std::exception_ptr thrown;
  std::stop_source stop;
};

// Threads whose callers went away before they had ended: they finish for nobody.
std::mutex leaving;
std::list<std::thread> leavers;

void wait_for_leavers() {
  const py::gil_scoped_release others_run;
  const std::lock_guard lock(leaving);
  for (auto& thread : leavers) thread.join();
  leavers.clear();
}

bool wait(Work& work, std::chrono::milliseconds most) {
  const py::gil_scoped_release others_run;
  std::unique_lock lock(work.mutex);
  return work.over.wait_for(lock, most, [&] { return work.done; });
}

// Runs a task without Python's lock. On the main thread, where Python handles signals, Ctrl-C asks
// the task to stop. A moment later KeyboardInterrupt is raised even if the task still runs, so the
// task must own all it uses.
void run_interruptibly(bool on_main_thread, const std::shared_ptr<Work>& work, const Task& task) {
  if (!on_main_thread) {
    const py::gil_scoped_release others_run;
    return task(work->stop.get_token());
  }
  std::thread thread([work, task] {
    std::exception_ptr thrown;
    try {
      task(work->stop.get_token());
    } catch (...) {
      thrown = std::current_exception();
    }
    const std::lock_guard lock(work->mutex);
    work->thrown = thrown;
    work->done = true;
    work->over.notify_all();
  });
  constexpr std::chrono::milliseconds look(20), patience(250);
  while (!wait(*work, look)) {
    if (PyErr_CheckSignals() == 0) continue;
    const py::error_already_set interrupt;
    work->stop.request_stop();
    if (wait(*work, patience)) {
      thread.join();
    } else {
      const std::lock_guard lock(leaving);
      leavers.push_back(std::move(thread));
    }
    throw interrupt;
  }
  thread.join();
  if (work->thrown) std::rethrow_exception(work->thrown);
}

// A function of Python that is told how far a call is. It may end the call by returning False or by
// raising, which the call then raises.
class Listener {
 public:
  Listener(py::object function, std::stop_source stop)
      : function_(std::move(function)), stop_(std::move(stop)) {}
  ~Listener() {
    const py::gil_scoped_acquire lock;
    function_ = {};
    raised_.reset();
  }
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;

  void tell(const app::Headway& headway) {
    if (stop_.stop_requested()) return;
    const py::gil_scoped_acquire lock;
    try {
      py::dict said;
      said["text"] = headway.text;
      for (const auto& [name, figure] : headway.figures) said[py::str(name)] = figure;
      if (function_(said).is(py::bool_(false))) stop_.request_stop();
    } catch (py::error_already_set& raised) {
      raised_ = std::make_unique<py::error_already_set>(raised);
      stop_.request_stop();
    }
  }
  void raise_what_was_raised() const {
    if (raised_) throw py::error_already_set(*raised_);
  }

 private:
  py::object function_;
  std::stop_source stop_;
  std::unique_ptr<py::error_already_set> raised_;
};

struct PythonAnswer {
  library::Answer answer;
  std::string json;

  // Computes the text when it is called, without Python's lock.
  static std::string made(const std::function<std::string()>& make, bool on_main_thread) {
    const auto text = std::make_shared<std::string>();
    run_interruptibly(on_main_thread, std::make_shared<Work>(),
                      [make, text](const std::stop_token&) { *text = make(); });
    return std::move(*text);
  }
};

std::shared_ptr<PythonAnswer> call(const std::string& request, py::object progress,
                                   bool on_main_thread) {
  const auto work = std::make_shared<Work>();
  const auto result = std::make_shared<PythonAnswer>();
  std::shared_ptr<Listener> listener;
  if (!progress.is_none()) listener = std::make_shared<Listener>(std::move(progress), work->stop);
  run_interruptibly(on_main_thread, work, [=](const std::stop_token& stop) {
    library::Hooks hooks{.stop = stop, .progress = {}};
    if (listener)
      hooks.progress = [listener](const app::Headway& headway) { listener->tell(headway); };
    result->answer = library::run(library::call_of(request), hooks);
    result->json = library::document_of(result->answer);
  });
  if (listener) listener->raise_what_was_raised();
  return result;
}

template <class Enum>
Enum value_of(const std::string& word, const char* what) {
  std::string names;
  for (const auto& [name, value] : words_of(Enum{})) {
    if (name == word) return value;
    names += (names.empty() ? "" : ", ") + std::string(name);
  }
  throw py::value_error("unknown " + std::string(what) + " '" + word + "'; expected one of " +
                        names);
}

topology::Collective collective_of(std::string name) {
  std::ranges::replace(name, '-', '_');
  return value_of<topology::Collective>(name, "collective");
}

units::Kernel kernel_of(units::Kernel::Kind kind, const std::string& precision,
                        const std::string& pass) {
  using Layout = units::Kernel::Layout;
  units::Kernel kernel{.kind = kind,
                       .precision = value_of<units::Precision>(precision, "precision")};
  // Fused attention has one kernel for all gradients, a product one for each.
  const bool attention = kind == units::Kernel::Kind::attention;
  if (pass == (attention ? "backward" : "input_gradient")) {
    kernel.layout = Layout::input_gradient;
  } else if (pass == "weight_gradient" && !attention) {
    kernel.layout = Layout::weight_gradient;
  } else if (pass != "forward") {
    throw py::value_error(
        "unknown pass '" + pass + "'; expected " +
        (attention ? "forward or backward" : "forward, input_gradient or weight_gradient"));
  }
  return kernel;
}

struct PythonCluster {
  library::SharedCluster cluster;
  std::string text;
};

void add_costs(py::module_& module) {
  using library::Device, library::Group;
  py::class_<PythonCluster>(module, "Cluster")
      .def(py::init([](const std::string& text) {
        return PythonCluster{library::cluster_of(text), text};
      }))
      .def_property_readonly("gpus", [](const PythonCluster& self) { return self.cluster->gpus; })
      .def_property_readonly("gpus_per_node",
                             [](const PythonCluster& self) { return self.cluster->node.gpus; })
      .def("group", [](const PythonCluster& self, const std::vector<std::int64_t>& gpus,
                       int sharing) { return Group(self.cluster, gpus, sharing); })
      // In place of py::pickle, which ends the interpreter under protocols 0 and 1.
      .def("__reduce__", [](const py::object& self) {
        return py::make_tuple(py::type::of(self),
                              py::make_tuple(self.cast<const PythonCluster&>().text));
      });
  py::class_<Group>(module, "Group")
      .def_property_readonly("ranks", [](const Group& self) { return self.shape().ranks; })
      .def_property_readonly("nodes", [](const Group& self) { return self.shape().nodes; })
      .def("time", [](const Group& self, const std::string& collective,
                      double bytes) { return self.time(collective_of(collective), {bytes}).value; })
      .def("times",
           [](const Group& self, const std::string& collective, const std::vector<double>& bytes) {
             const auto asked = collective_of(collective);
             std::vector<double> seconds(bytes.size());
             const py::gil_scoped_release others_run;
             std::ranges::transform(bytes, seconds.begin(),
                                    [&](double size) { return self.time(asked, {size}).value; });
             return seconds;
           });
  py::class_<Device>(module, "Device")
      .def(py::init<const std::string&>())
      .def_property_readonly("name", [](const Device& self) { return self.data().name; })
      .def("product",
           [](const Device& self, std::int64_t m, std::int64_t n, std::int64_t k,
              std::int64_t batch, const std::string& precision, const std::string& pass) {
             auto kernel = kernel_of(units::Kernel::Kind::product, precision, pass);
             kernel.batch = batch, kernel.m = m, kernel.n = n, kernel.k = k;
             return self.time(kernel).value;
           })
      .def("attention",
           [](const Device& self, std::int64_t batch, std::int64_t sequence, std::int64_t head_dim,
              bool causal, const std::string& precision, const std::string& pass) {
             auto kernel = kernel_of(units::Kernel::Kind::attention, precision, pass);
             kernel.causal = causal;
             kernel.batch = batch, kernel.m = kernel.n = sequence, kernel.k = head_dim;
             return self.time(kernel).value;
           })
      .def("stream", [](const Device& self, double bytes) {
        return self.time({.kind = units::Kernel::Kind::stream, .traffic = {bytes}}).value;
      });
}

}  // namespace

PYBIND11_MODULE(_core, module) {
  py::register_exception_translator([](std::exception_ptr thrown) {
    try {
      if (thrown) std::rethrow_exception(thrown);
    } catch (const scenarios::Error& wrong) {
      PyErr_SetString(PyExc_ValueError, wrong.what());
    }
  });
  py::class_<PythonAnswer, std::shared_ptr<PythonAnswer>>(module, "Answer")
      .def_property_readonly("status", [](const PythonAnswer& self) { return self.answer.status; })
      .def_property_readonly("said", [](const PythonAnswer& self) { return self.answer.said; })
      .def_property_readonly("warnings",
                             [](const PythonAnswer& self) { return self.answer.warnings; })
      .def_property_readonly("answered",
                             [](const PythonAnswer& self) { return !self.answer.document.empty(); })
      .def_property_readonly("has_page",
                             [](const PythonAnswer& self) { return self.answer.has_page; })
      .def_property_readonly("has_trace",
                             [](const PythonAnswer& self) { return self.answer.has_trace; })
      .def_readonly("json", &PythonAnswer::json)
      .def("page",
           [](const PythonAnswer& self, bool on_main_thread) {
             return PythonAnswer::made(self.answer.page, on_main_thread);
           })
      .def("trace", [](const PythonAnswer& self, bool on_main_thread) {
        return PythonAnswer::made(self.answer.trace, on_main_thread);
      });
  module.def("call", &call);
  module.def("arrow_stream", &stepcast_python::arrow_stream);
  module.def("wait_for_leavers", &wait_for_leavers);
  module.attr("version") = library::version();
  add_costs(module);
}
