"""The training loop: knows models, optimisers and batches, and nothing of what is learnt.

A training that is killed at any moment goes on where its state was last saved and ends with the
same weights, bit for bit, as one that was not (on the CPU; GPUs add in changing order).
"""

from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

import torch

from pronominal.adapters.training import state
from pronominal.adapters.training.curves import Curves
from pronominal.adapters.training.devices import OneProcess
from pronominal.adapters.training.settings import LoopSettings
from pronominal.adapters.training.state import BEST, STATE, Position
from pronominal.adapters.training.trainable import Batch, Outcome, Training, Validate
from pronominal.errors import InputError

CURVES = "curves.jsonl"


def train(
    training: Training,
    settings: LoopSettings,
    folder: Path,
    *,
    devices: OneProcess | None = None,
    progress: Callable[[int], None] = lambda update: None,
) -> Outcome:
    """Train a model, going on from the state in the folder if there is one.

    Seed the random numbers first (see `state.seeded`); a state brings its own.

    Args:
        training: what is trained.
        settings: when it is measured and saved, and what is kept.
        folder: gets ``state.pt``, ``best.pt`` and ``curves.jsonl``; see `remove_state`.
        devices: where to compute; on the CPU when None.
        progress: told how many updates are done.

    Raises:
        InputError: the state is damaged or cannot be saved, or the training diverges.
    """
    return _Loop(training, settings, folder, devices or OneProcess(), progress).run()


def remove_state(folder: Path) -> None:
    """Remove what only a training that is to go on needs."""
    for name in (STATE, BEST):
        (folder / name).unlink(missing_ok=True)


@dataclass
class _Loop:
    training: Training
    settings: LoopSettings
    folder: Path
    devices: OneProcess
    progress: Callable[[int], None]

    def __post_init__(self) -> None:
        training, devices = self.training, self.devices
        self.model = devices.prepare(training.model.to(devices.device), training.optimisers)
        self.position = Position()
        self._load()
        self.curves = Curves(self.folder / CURVES, self.position.update) if self._leads else None

    @property
    def _leads(self) -> bool:
        """Whether this process is the one that writes."""
        return self.devices.rank == 0

    def run(self) -> Outcome:
        position = self.position
        self.progress(position.update)
        while not self._finished():
            batches = self.training.batches(position.epoch)
            for batch in batches[position.batch :]:
                self._update(batch)
                ended = position.batch == len(batches)
                if ended:
                    position.epoch, position.batch = position.epoch + 1, 0
                self._validate_and_save(ended)
                if self._finished():
                    break
        if self.curves is not None:
            self.curves.close()
        return self._outcome()

    def _finished(self) -> bool:
        patience = self.settings.patience
        stopped = patience is not None and self.position.validations_since >= patience
        return stopped or self.position.update >= self.training.updates

    def _update(self, batch: Batch) -> None:
        position, devices = self.position, self.devices
        self.model.train()
        share = batch[devices.rank :: devices.processes]
        try:
            loss = self.training.loss(self.model, share or batch[:1], batch)
        except FloatingPointError as error:
            raise self._diverged(f"the loss of update {position.update + 1}") from error
        # a process without a share computes with the others, and adds nothing
        loss = loss if share else loss * 0
        devices.backward(loss)
        value = devices.sum(float(loss.detach()))
        position.update, position.batch = position.update + 1, position.batch + 1
        if not torch.isfinite(torch.tensor(value)):
            raise self._diverged(f"the loss of update {position.update}")
        rates = [group["lr"] for one in self.training.optimisers for group in one.param_groups]
        if self.training.clip is not None:
            devices.clip(self.model, self.training.clip)
        for optimiser in self.training.optimisers:
            devices.step(optimiser)
            optimiser.zero_grad(set_to_none=True)
        for schedule in self.training.schedules:
            schedule.step()
        if self.curves is not None:
            self.curves.add(position.update, epoch=position.epoch, loss=value, learning_rates=rates)
        self.progress(position.update)

    def _diverged(self, what: str) -> InputError:
        return InputError(
            f"{what} is no finite number", cure="lower the learning rate", file=self.folder
        )

    def _validate_and_save(self, epoch_ended: bool) -> None:
        settings, update = self.settings, self.position.update
        every = settings.validate_every
        last = update >= self.training.updates
        due = epoch_ended if every is None else update % every == 0
        if self.training.validate is not None and (due or last):
            self._validate(self.training.validate)
        if epoch_ended or last or update % settings.save_every == 0:
            self._save()

    def _validate(self, validate: Validate) -> None:
        position = self.position
        self.training.model.eval()
        try:
            with torch.inference_mode():
                measured = validate(self.training.model)
        except FloatingPointError as error:
            raise self._diverged(
                f"a score of the validation at update {position.update}"
            ) from error
        if position.best_score is None or measured.score > position.best_score:
            position.best_score, position.best_update = measured.score, position.update
            position.validations_since, position.figures = 0, dict(measured.figures)
            if self._leads and self.settings.keep == "best":
                state.save(self.folder / BEST, {"model": self.training.model.state_dict()})
        else:
            position.validations_since += 1
        if self.settings.keep == "last":
            position.figures = dict(measured.figures)
        if self.curves is not None:
            figures = dict(measured.figures)
            self.curves.add(position.update, validation=measured.score, figures=figures)

    def _save(self) -> None:
        if self.curves is not None:
            content = {
                "place": asdict(self.position),
                "model": self.training.model.state_dict(),
                "optimisers": [one.state_dict() for one in self.training.optimisers],
                "schedules": [one.state_dict() for one in self.training.schedules],
                "devices": self.devices.state_dict(),
                "random": state.random_states(),
            }
            self.curves.flush()
            state.save(self.folder / STATE, content)
        self.devices.wait()

    def _load(self) -> None:
        if not (self.folder / STATE).exists():
            return
        content = state.load(self.folder / STATE)
        with state.refused_if_of_others(self.folder / STATE):
            self.position = Position(**content["place"])
            self.training.model.load_state_dict(content["model"])
            for name in ("optimisers", "schedules"):
                for one, saved in zip(getattr(self.training, name), content[name], strict=True):
                    one.load_state_dict(saved)
            self.devices.load_state_dict(content["devices"])
            state.restore_random_states(content["random"])

    def _outcome(self) -> Outcome:
        position = self.position
        kept = position.update
        if self.settings.keep == "best" and position.best_score is not None:
            best = state.load(self.folder / BEST)
            with state.refused_if_of_others(self.folder / BEST):
                self.training.model.load_state_dict(best["model"])
            kept = position.best_update
        self.training.model.eval()
        epochs = position.epoch + (position.batch > 0)
        return Outcome(position.update, epochs, kept, position.figures)
