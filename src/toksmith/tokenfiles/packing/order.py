"""The order in which a training reads packed rows: shuffled, shared, and resumed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from toksmith._base.checks import flag, whole
from toksmith._base.lazy import np
from toksmith._base.shares import check_rank, check_state, share_of
from toksmith.errors import OptionError
from toksmith.tokenfiles.packing.permutation import Permutation

_BLOCK = 1 << 12
_STATE = ("epoch", "row", "shares")


class RowOrder:
    """Yields the numbers of rows, shuffled by seed and epoch, for one process of a training.

    Each process reads every ``world_size``-th row of the order; inside a worker of a PyTorch
    ``DataLoader``, the workers share the rows of their process. Every row is read once an epoch.
    No permutation is held in memory. A ``DataLoader`` takes it as the ``sampler`` of a dataset of
    rows.

    Args:
        count: the number of rows.
        seed: shuffles the rows, in another order each epoch; ``None`` keeps their order.
        rank: the number of this process.
        world_size: the number of processes.
        drop_last: leave out the last rows, fewer than ``world_size``, so that all processes read
            the same number.

    Raises:
        OptionError: an argument is out of range.

    Example:
        >>> order = RowOrder(5, seed=1)
        >>> first = next(iter(order))
        >>> order.state_dict()
        {'epoch': 0, 'row': 1, 'shares': 1}
        >>> sorted([first, *order])
        [0, 1, 2, 3, 4]
    """

    def __init__(
        self,
        count: int,
        *,
        seed: int | None = None,
        rank: int = 0,
        world_size: int = 1,
        drop_last: bool = False,
    ) -> None:
        count = whole("count", count, 0)
        self._seed = None if seed is None else whole("seed", seed, 0, ", or None")
        self._rank, self._world_size = check_rank(rank, world_size)
        whole_rounds = flag("drop_last", drop_last)
        self._count = count - count % self._world_size if whole_rounds else count
        self._permuted = count
        self._epoch = self._row = 0
        self._shares: int | None = None  # of the state that was loaded

    def set_epoch(self, epoch: int) -> None:
        """Let the next iteration begin an epoch; the current epoch goes on where it is.

        An iteration that ends goes to the next epoch by itself. Call this before each epoch if
        ``DataLoader`` makes new workers for each, as it does without ``persistent_workers``.

        Args:
            epoch: the number of the epoch, from 0 on.

        Raises:
            OptionError: it is no whole number of 0 or more.

        Example:
            >>> order = RowOrder(5, seed=1)
            >>> first, second = list(order), list(order)
            >>> order.set_epoch(0)
            >>> list(order) == first != second
            True
        """
        epoch = whole("epoch", epoch, 0)
        if epoch != self._epoch:
            self._epoch, self._row, self._shares = epoch, 0, None

    def state_dict(self) -> dict[str, int]:
        """Return the place after the row that was yielded last.

        Returns:
            ``epoch``; ``row``: the rows of this process and worker that were yielded in it;
            ``shares``: the number of processes times that of workers.

        Example:
            >>> order = RowOrder(5)
            >>> order.load_state_dict({"epoch": 0, "row": 3, "shares": 1})
            >>> next(iter(order)), order.state_dict()
            (3, {'epoch': 0, 'row': 4, 'shares': 1})
        """
        shares = self._shares or share_of(self._rank, self._world_size).step
        return {"epoch": self._epoch, "row": self._row, "shares": shares}

    def load_state_dict(self, state: Mapping[str, int]) -> None:
        """Let the next iteration begin at a place that :meth:`state_dict` returned.

        Args:
            state: the place. The other arguments must be those of the object that returned it.

        Raises:
            OptionError: it is no such place.

        Example:
            >>> order = RowOrder(5)
            >>> order.load_state_dict({"epoch": 0, "row": 3, "shares": 1})
            >>> next(iter(order)), order.state_dict()
            (3, {'epoch': 0, 'row': 4, 'shares': 1})
        """
        self._epoch, self._row, self._shares = check_state(state, _STATE)

    def __len__(self) -> int:
        """Return the number of rows of this process in an epoch."""
        return len(range(self._rank, self._count, self._world_size))

    def __iter__(self) -> Iterator[int]:
        """Yield numbers of rows to the end of the epoch.

        An iteration that ended begins the next epoch; one that was left begins where it was left.

        Raises:
            OptionError: the loaded state is of another number of processes or workers.
        """
        share = share_of(self._rank, self._world_size)
        if self._shares not in (None, share.step):
            raise OptionError(
                f"the state is of {self._shares} processes × workers, and these are {share.step}: "
                "use the same numbers to go on inside an epoch"
            )
        places = range(share.first, self._count, share.step)
        shuffle = None
        if self._seed is not None:
            shuffle = Permutation(self._permuted, self._seed, self._epoch)
        while self._row < len(places):
            part = places[self._row : self._row + _BLOCK]
            block = np.arange(part.start, part.stop, part.step)
            for number in (block if shuffle is None else shuffle(block)).tolist():
                self._row += 1
                yield number
        self._epoch, self._row, self._shares = self._epoch + 1, 0, None
