"""The training loop: knows models, optimisers and batches, and nothing of what is learnt.

A training that is killed at any moment goes on where its state was last saved and ends with the
same weights, bit for bit, as one that was not (on the CPU; GPUs add in changing order).
"""

from collections.abc import Callable
from pathlib import Path

import torch
from torch import nn

from pronominal.adapters.training import random_states, state
from pronominal.adapters.training.curves import Curves
from pronominal.adapters.training.devices import OneProcess
from pronominal.adapters.training.settings import (
    Batch,
    LoopSettings,
    Outcome,
    Training,
    Validation,
)
from pronominal.adapters.training.state import BEST, STATE, Place
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

    Seed the random numbers first (see `random_states.seeded`); a state brings its own.

    Args:
        training: what is trained.
        settings: how long, and what is kept.
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


class _Loop:
    def __init__(
        self,
        training: Training,
        settings: LoopSettings,
        folder: Path,
        devices: OneProcess,
        progress: Callable[[int], None],
    ) -> None:
        self.training = training
        self.settings = settings
        self.folder = folder
        self.devices = devices
        self.progress = progress
        self.model = devices.prepare(training.model.to(devices.device), training.optimisers)
        self.place = Place()
        if self._leads:
            state.remove_unfinished(folder)
        self._load()
        self.curves = Curves(folder / CURVES, self.place.update) if self._leads else None

    @property
    def _leads(self) -> bool:
        """Whether this process is the one that writes."""
        return self.devices.rank == 0

    def run(self) -> Outcome:
        place = self.place
        self.progress(place.update)
        while not self._finished():
            batches = self.training.batches(place.epoch)
            for batch in batches[place.batch :]:
                self._update(batch)
                ended = place.batch == len(batches)
                if ended:
                    place.epoch, place.batch = place.epoch + 1, 0
                self._validate_and_save(ended)
                if self._finished():
                    break
        if self.curves is not None:
            self.curves.close()
        return self._outcome()

    def _finished(self) -> bool:
        patience = self.settings.patience
        stopped = patience is not None and self.place.validations_since >= patience
        return stopped or self.place.update >= self.settings.updates

    def _update(self, batch: Batch) -> None:
        place, devices = self.place, self.devices
        self.model.train()
        share = batch[devices.rank :: devices.processes]
        try:
            loss = self.training.loss(self.model, share or batch[:1])
        except FloatingPointError as error:
            raise self._diverged(f"the loss of update {place.update + 1}") from error
        # gradients are averaged over the processes, and their shares may differ by one
        weight = len(share) * devices.processes / len(batch)
        devices.backward(loss * weight if weight != 1 else loss)
        value = devices.mean(float(loss.detach()) * weight)
        place.update, place.batch = place.update + 1, place.batch + 1
        if not torch.isfinite(torch.tensor(value)):
            raise self._diverged(f"the loss of update {place.update}")
        rates = [group["lr"] for one in self.training.optimisers for group in one.param_groups]
        if self.settings.clip is not None:
            devices.clip(self.model, self.settings.clip)
        for optimiser in self.training.optimisers:
            devices.step(optimiser)
            optimiser.zero_grad(set_to_none=True)
        for schedule in self.training.schedules:
            schedule.step()
        if self.curves is not None:
            self.curves.add(place.update, epoch=place.epoch, loss=value, learning_rates=rates)
        self.progress(place.update)

    def _diverged(self, what: str) -> InputError:
        return InputError(
            f"{what} is no finite number", cure="lower the learning rate", file=self.folder
        )

    def _validate_and_save(self, epoch_ended: bool) -> None:
        settings, update = self.settings, self.place.update
        every = settings.validate_every
        last = update >= settings.updates
        due = epoch_ended if every is None else update % every == 0
        if self.training.validate is not None and (due or last):
            self._validate(self.training.validate)
        if epoch_ended or last or update % settings.save_every == 0:
            self._save()

    def _validate(self, validate: Callable[[nn.Module], Validation]) -> None:
        place = self.place
        self.training.model.eval()
        try:
            with torch.inference_mode():
                found = validate(self.training.model)
        except FloatingPointError as error:
            raise self._diverged(f"a score of the validation at update {place.update}") from error
        if place.best_score is None or found.score > place.best_score:
            place.best_score, place.best_update = found.score, place.update
            place.validations_since, place.figures = 0, dict(found.figures)
            if self._leads and self.settings.keep == "best":
                state.save(self.folder / BEST, {"model": self.training.model.state_dict()})
        else:
            place.validations_since += 1
        if self.settings.keep == "last":
            place.figures = dict(found.figures)
        if self.curves is not None:
            self.curves.add(place.update, validation=found.score, figures=dict(found.figures))

    def _save(self) -> None:
        if self.curves is not None:
            content = {
                "place": state.fields_of(self.place),
                "model": self.training.model.state_dict(),
                "optimisers": [one.state_dict() for one in self.training.optimisers],
                "schedules": [one.state_dict() for one in self.training.schedules],
                "devices": self.devices.state_dict(),
                "random": random_states.random_states(),
            }
            self.curves.flush()
            state.save(self.folder / STATE, content)
        self.devices.wait()

    def _load(self) -> None:
        if not (self.folder / STATE).exists():
            return
        content = state.load(self.folder / STATE)
        self.place = state.place_of(content["place"])
        self.training.model.load_state_dict(content["model"])
        for name in ("optimisers", "schedules"):
            for one, saved in zip(getattr(self.training, name), content[name], strict=True):
                one.load_state_dict(saved)
        self.devices.load_state_dict(content["devices"])
        random_states.restore(content["random"])

    def _outcome(self) -> Outcome:
        place = self.place
        kept = place.update
        if self.settings.keep == "best" and place.best_score is not None:
            best = state.load(self.folder / BEST)
            self.training.model.load_state_dict(best["model"])
            kept = place.best_update
        self.training.model.eval()
        epochs = place.epoch + (place.batch > 0)
        return Outcome(place.update, epochs, kept, place.figures)
