"""From a built folder to a gated dataset on the Hub: no row goes up before the gate was tried."""

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress

from pronominal.dataset_scripts.hub.release import Release
from pronominal.dataset_scripts.hub.repository import (
    NEW_REPOSITORY,
    PROBE,
    DatasetRepository,
    Gating,
    differing,
    require_hub_id,
)
from pronominal.dataset_scripts.reading.hub_client import explained, page, was_refused
from pronominal.errors import InputError
from pronominal.signals import signals_as_exits

GITATTRIBUTES = ".gitattributes"
"""The one file that the Hub itself puts into a new repository."""

PRIVATE = "private"
GATED = "public and gated"
PERHAPS_PUBLIC = "perhaps PUBLIC"
"""What a run knows of who can see the repository."""

Say = Callable[[str], None]


class GateOpenError(Exception):
    """The gate does not hold; the message says what came of the repository."""


def plan(release: Release, repo: str, gating: Gating) -> list[str]:
    """Return what `publish` would do, step by step, without asking the Hub anything."""
    return [
        f"create {repo}, private; one that is there must hold {release.name}, and is made private "
        "unless strangers are refused",
        "ask as a stranger whether it is private",
        f"upload {PROBE}, a file that holds nothing, and no rows; squash what held rows before",
        f"gate it: {gating}; read the setting back",
        f"make it public; as a stranger, ask for {PROBE}, which must be refused",
        f"upload {', '.join(release.digests)}, in one commit",
        f"as a stranger, ask for {', '.join(release.data)}; unless each is refused, make it "
        "private again and exit 1",
        f"tag it {release.version}",
    ]


def publish(release: Release, repo: str, gating: Gating, say: Say = print) -> None:
    """Publish a release; what is done already is not done again, so that it can be repeated.

    The same bytes change nothing. Other bytes need another version. A repository whose gate holds
    stays public while a new version is uploaded; any other holds no table until a stranger was
    refused a file that holds nothing.

    Args:
        release: what to publish.
        repo: the repository, ``ORG/NAME``.
        gating: who lets people in.
        say: told each step that was done.

    Raises:
        InputError: something stopped it; the message says in which state the repository is left.
        GateOpenError: the gate does not hold.
        KeyboardInterrupt, SystemExit: it was interrupted; the state is printed on stderr.
    """
    require_hub_id(repo)
    publication = _Publication(release, DatasetRepository(repo), gating, say)
    try:
        publication.run()
    except GateOpenError:
        raise
    except (KeyboardInterrupt, SystemExit):
        print(f"pronominal: {repo}: interrupted; {publication.left}", file=sys.stderr)
        raise
    except Exception as error:
        told = explained(error, repo)
        raise InputError(f"{told.cause} ({publication.left})", cure=told.cure, file=repo) from error


class _Publication:
    """One run of `publish`: each step stops at its first surprise."""

    def __init__(
        self, release: Release, repository: DatasetRepository, gating: Gating, say: Say
    ) -> None:
        self.release = release
        self.repository = repository
        self.gating = gating
        self.say = say
        self.visibility: str | None = None
        self.uploaded = False

    @property
    def left(self) -> str:
        """In which state the repository is left if the run ends now."""
        if self.visibility is None:
            return "nothing was changed"
        files = f"{'with' if self.uploaded else 'without'} the new files"
        left = f"the repository is left {self.visibility}, {files}"
        if self.visibility == PERHAPS_PUBLIC:
            left += f": make it private now at {page(self.repository.name)}/settings"
        return left

    def run(self) -> None:
        self.repository.require_accounts()
        self._find_or_create()
        if self.visibility == GATED:
            self._gate()
            self._fill()
        else:
            self._require_hidden()
            self._empty()
            self._gate()
            with signals_as_exits(), self._hidden_on_errors():
                self._show()
                self._fill()
        self._tag()

    def _find_or_create(self) -> None:
        """Make sure that there is a repository of this dataset that no stranger can read."""
        found = self.repository.find()
        if found is None:
            self._create()
            return
        files = self.repository.files()
        self._refuse_other_dataset(files, found.card_data and found.card_data.get("canary"))
        tables = [path for path in files if path.endswith(".parquet")]
        closed: str | None = None
        if found.private:
            closed = PRIVATE
        elif found.gated and tables and self.repository.open_to_strangers(tables) is None:
            closed = GATED
        else:
            self._hide()
            self.say("was open to strangers: made private")
        # only now: a repository that was opened is hidden in any case
        self._refuse_changed_version(files)
        self.visibility = closed or self.visibility

    def _create(self) -> None:
        self.visibility = PERHAPS_PUBLIC
        created = False
        try:
            self.repository.create_private()
            created = True
            private = self.repository.info().private
        except BaseException as error:
            # a refused request made nothing; one that broke off may have made the repository
            self.visibility = None if was_refused(error) and not created else self._seen()
            raise
        if not private:
            raise self._gate_open("the server made a public repository, asked for a private one")
        self.say("created, private")

    def _refuse_other_dataset(self, files: dict[str, str], canary: object) -> None:
        if files.keys() - {GITATTRIBUTES, PROBE} and canary != self.release.canary:
            cause = f"the repository does not hold {self.release.name}: its canary is another"
            raise InputError(cause, cure="choose another --repo")

    def _refuse_changed_version(self, head: dict[str, str]) -> None:
        version = self.release.version
        if version not in self.repository.tags():
            return
        changed, stale = differing(self.release, self.repository.files(version))
        # the head may lack tables: they were taken out while the gate was tried
        others, more = differing(self.release, head)
        changed += [*stale, *(path for path in others if path in head), *more]
        changed = [path for path in changed if path != PROBE]
        if changed:
            cause = f"version {version} is published already, and {changed[0]} is another"
            cure = "raise the version in the header of the page in cards/ and build again"
            raise InputError(cause, cure=cure)

    def _require_hidden(self) -> None:
        """Make sure, as a stranger, that private is private."""
        seen = self.repository.seen_by_strangers()
        if seen is not None:
            raise self._gate_open(f"{seen}, although the server says private")
        self.visibility = PRIVATE

    def _empty(self) -> None:
        """Leave a file that holds nothing where the gate is tried next, and no table."""
        if self.repository.empty(self.release):
            self.say(f"uploaded {PROBE}, which holds nothing")
        self._squash()
        self._require_hidden()

    def _squash(self) -> None:
        """Leave no table in an older commit: a server that ignores the gate shows these, too.

        The tag of this version is put back when the gate was tried: its files are the release's.
        """
        version, revisions = self.release.version, self.repository.with_tables()
        if not revisions:
            return
        for name in (name for name in revisions if name not in ("main", version)):
            cause = f"{name} holds tables, which a server that ignores the gate would show"
            cure = f"remove {name} from the repository, or publish to another --repo"
            raise InputError(cause, cure=cure)
        self.repository.squash(version if version in revisions else None)
        if self.repository.with_tables():
            cause = "the server keeps older commits, which hold tables, although they were squashed"
            raise InputError(cause, cure=NEW_REPOSITORY)
        self.say("squashed: no older commit holds a table")

    def _gate(self) -> None:
        if self.repository.info().gated != self.gating:
            self.repository.set_gating(self.gating)
            self.say(f"gated: {self.gating}")
        gated = self.repository.info().gated
        if gated != self.gating:
            raise self._gate_open(f"the server took the setting and says gated: {gated}")

    def _show(self) -> None:
        """Make the repository public and make sure, as a stranger, that the gate holds."""
        self.visibility = PERHAPS_PUBLIC
        self.repository.set_private(False)
        self._require_closed([PROBE])
        self.say(f"public: a stranger is refused {PROBE}")

    def _fill(self) -> None:
        """Upload the files behind the gate that was tried, and try it again."""
        head = self.repository.info().sha
        other, stale = differing(self.release, self.repository.files())
        if other or stale:
            self.repository.commit(self.release, stale, head)
        self.uploaded = True
        self._require_closed(self.release.data)
        if other or stale:
            self._require_stored()
        self.say(f"uploaded {len(other)} files" if other else "the files are there already")
        self.say("a stranger is refused every table")

    def _require_stored(self) -> None:
        other, stale = differing(self.release, self.repository.files())
        if other or stale:
            path = (other or stale)[0]
            raise InputError(f"the Hub stored another {path}", cure="run the same command again")

    def _require_closed(self, paths: Sequence[str]) -> None:
        """Make sure, as a stranger, that the gate is before each of the files."""
        leak = self.repository.open_to_strangers(paths)
        if leak is not None:
            raise self._gate_open(f"{leak}, although the server says gated: {self.gating}")
        self.visibility = GATED

    def _tag(self) -> None:
        if self.release.version not in self.repository.tags():
            self.repository.tag(self.release.version)
            self.say(f"tagged {self.release.version}")

    @contextmanager
    def _hidden_on_errors(self) -> Iterator[None]:
        """Hide the repository again on whatever stops the block, an interrupt included."""
        try:
            yield
        except GateOpenError:
            raise  # it is hidden already
        except BaseException:
            # what stopped the block is told, not that hiding failed, too: `left` says so
            with suppress(Exception):
                self._hide()
            raise

    def _gate_open(self, cause: str) -> GateOpenError:
        """Hide the repository and return the error that says so."""
        try:
            self._hide()
        except Exception as error:
            cause = f"{cause}; {explained(error, self.repository.name).cause}"
        return GateOpenError(f"{self.repository.name}: {cause}; {self.left}")

    def _hide(self) -> None:
        """Make the repository private; what it is left as is what was seen, not what was asked."""
        self.visibility = PERHAPS_PUBLIC
        try:
            self.repository.set_private(True)
        finally:
            self.visibility = self._seen()
        if self.visibility != PRIVATE:
            raise InputError("the server does not make it private", cure="remove the repository")

    def _seen(self) -> str:
        """Return what a stranger sees now of a repository that should be private."""
        if self.repository.seen_by_strangers() is None:
            return PRIVATE
        leak = self.repository.open_to_strangers([PROBE, *self.release.data])
        return GATED if leak is None else PERHAPS_PUBLIC
