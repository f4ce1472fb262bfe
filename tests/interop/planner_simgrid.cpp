/*
 * Repeats in SimGrid the flows that planner-flows prints, and compares the times.
 *
 *   planner-flows SEED CASES | planner-simgrid
 *
 * Each tree is one communication over a route with all its links; SimGrid shares them max-min
 * fair, with equal weights. Exit 0 if every case takes the time that planner-flows printed, to one
 * part in 10,000.
 */
#include <cmath>
#include <cstdio>
#include <map>
#include <sstream>
#include <string>
#include <vector>
#include <iostream>

#include <simgrid/s4u.hpp>

namespace sg4 = simgrid::s4u;

/* SimGrid rounds times to 1e-9 s and counts whole bytes, so all amounts are multiplied by a
 * million. */
static const double SCALE = 1e6;

int main(int argc, char **argv)
{
	sg4::Engine engine(&argc, argv);
	std::map<int, double> ours, theirs;
	std::map<int, const sg4::Link *> links;
	std::string line;
	int flows = 0;
	int wrong = 0;

	engine.set_config("network/model:CM02");
	engine.set_config("network/crosstraffic:0");
	engine.set_config("network/TCP-gamma:0");
	auto *zone = sg4::create_full_zone("zone");
	while (std::getline(std::cin, line)) {
		std::istringstream in(line);
		char kind = 0;
		int id = 0;
		double value = 0;

		in >> kind >> id >> value;
		if (kind == 'R') {
			links[id] = zone->create_link("r" + std::to_string(id), value * SCALE)
					    ->set_latency(0)
					    ->seal();
		} else if (kind == 'S') {
			ours[id] = value;
		} else if (kind == 'F') {
			std::string name = std::to_string(flows++);
			auto *from = zone->create_host("a" + name, 1e9)->seal();
			auto *to = zone->create_host("b" + name, 1e9)->seal();
			std::vector<sg4::LinkInRoute> route;
			int n = 0;

			in >> n;
			for (int i = 0, use = 0; i < n && in >> use; i++)
				route.emplace_back(links.at(use));
			zone->add_route(from->get_netpoint(), to->get_netpoint(), nullptr, nullptr,
					route, false);
			sg4::Actor::create("f" + name, from, [=, &theirs] {
				sg4::Comm::sendto(from, to, static_cast<uint64_t>(value * SCALE));
				theirs[id] = std::fmax(theirs[id], sg4::Engine::get_clock());
			});
		}
	}
	zone->seal();
	engine.run();
	for (const auto &c : ours) {
		double off = std::fabs(theirs[c.first] / c.second - 1);

		if (!(off < 1e-4)) {
			std::printf("case %d: SimGrid %.9g s, ours %.9g s\n", c.first,
				    theirs[c.first], c.second);
			wrong++;
		}
	}
	std::printf("%zu cases, %d flows, %d differ\n", ours.size(), flows, wrong);
	return ours.empty() || wrong ? 1 : 0;
}
