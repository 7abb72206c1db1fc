#include "training/unigram/lattices.hpp"

#include <algorithm>
#include <atomic>

#include "base/parallel.hpp"
#include "base/stop.hpp"

namespace toksmith::unigram {

const Block& Lattices::block_at(std::uint32_t place) const {
    std::size_t number = block_numbers[place >> kBlockBits];
    while (number + 1 < blocks.size() && blocks[number + 1].first_place <= place) ++number;
    return blocks[number];
}

void Workers::run(std::size_t jobs,
                  const std::function<void(std::size_t, std::size_t)>& work) const {
    std::atomic<std::size_t> next = 0;
    run_on_threads(std::min(threads, jobs), [&](std::size_t thread) {
        for (std::size_t job; (job = next++) < jobs;) {
            interruption_point();
            work(thread, job);
        }
    });
}

void drop(const std::vector<std::uint8_t>& dropped, Seeds& seeds, const Workers& workers) {
    std::vector<std::uint32_t> numbers(seeds.pieces.size());  // the new ones; 0: dropped
    std::size_t kept = 1;
    for (std::size_t piece = 1; piece < numbers.size(); ++piece) {
        if (dropped[piece]) continue;
        numbers[piece] = static_cast<std::uint32_t>(kept);
        seeds.pieces[kept++] = seeds.pieces[piece];
    }
    if (kept == numbers.size()) return;
    seeds.pieces.resize(kept);

    const ArcFormat format = seeds.lattices.format;
    workers.run(seeds.lattices.blocks.size(), [&](std::size_t, std::size_t number) {
        InterruptionPoints<4096> points;
        Block& block = seeds.lattices.blocks[number];
        std::uint32_t* out = block.arcs.data();
        std::uint32_t begin = 0;
        for (std::size_t place = 0; place + 1 < block.offsets.size(); ++place) {
            points.step();
            const std::uint32_t end = block.offsets[place + 1];
            for (std::uint32_t i = begin; i < end; ++i) {
                const std::uint32_t arc = block.arcs[i], length = format.length(arc);
                const std::uint32_t piece = numbers[format.piece(arc)];
                // An arc of one character is kept even if its piece is dropped: it becomes unknown.
                if (piece || length == 1) *out++ = format.arc(piece, length);
            }
            begin = end;
            block.offsets[place + 1] = static_cast<std::uint32_t>(out - block.arcs.data());
        }
        block.arcs.resize(block.offsets.back());
    });
}

}  // namespace toksmith::unigram
