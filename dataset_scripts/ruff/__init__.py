"""RUFF (Gautam et al., 2024): pronoun fidelity with zero to five distractors, 5.6 million rows."""

from collections.abc import Iterator, Sequence

import numpy as np
import pyarrow as pa

from pronominal.dataset_scripts.building.options import PRONOUNS, BuildOption, BuildOptions
from pronominal.dataset_scripts.building.script import SplitRows
from pronominal.dataset_scripts.building.sources import Sources, Upstream
from pronominal.dataset_scripts.ruff.assembly import SETTINGS, Setting
from pronominal.dataset_scripts.ruff.checks import (
    instance_violations,
    setting_violations,
    template_violations,
)
from pronominal.dataset_scripts.ruff.tables import Instances
from pronominal.dataset_scripts.ruff.templates import (
    BLANK,
    CONTEXT,
    TASK,
    Templates,
    order_errors,
    parse_context,
    parse_task,
)
from pronominal.dataset_scripts.ruff.variants import PUBLISHED, VARIANT, VARIANTS, Variant
from pronominal.dataset_scripts.tables.columns import MENTION, Column, Columns
from pronominal.dataset_scripts.tables.tab_separated import parse_each
from pronominal.dataset_scripts.tables.violations import Violation
from pronominal.errors import InputError
from pronominal.instances import FillingInstance
from pronominal.pronouns import CASES, PRONOUN_SETS, PronounSet
from pronominal.spans import Mention

NAME = "ruff"
ALL = BuildOption(
    name="all",
    kind=bool,
    meaning="Build also what is not published by default.",
    default=False,
)
"""Whether ``test`` is built behind more than one distractor, too."""

OPTIONS = (PRONOUNS, ALL, VARIANT)
UNPUBLISHABLE = ()
HYDRATION = None
COLUMNS: Columns = ()

RUFF = Upstream(
    repository="uds-lsv/robust-pronoun-fidelity",
    commit="97637fa51e9c7771a3420dca2933f3ae9504682b",
    licence="AGPL-3.0",
    folder="ruff",
    files={
        "data.zip": "2538e3f899612e97c5657f1b19941659f28f22816f73a7e0bd974f18aa9383f0",
        "README.md": "0e122ed68352e7107cc903f678f82dae2d481019f6e237a08fc41e693c8eee76",
    },
)
UPSTREAM = (RUFF,)

SEEDS = (13, 17, 19)
"""Seeds of the paper's three samples (upstream's sample_templates.py)."""

HUMAN_SEED, HUMAN_ROWS = 131719, 100
"""Seed of the sample for human annotation, rows from each setting (sample_for_humans.py)."""

CALLED: Columns = (
    Column("target", pa.string(), "how the person is called whose pronoun is missing"),
    Column("other", pa.string(), "how the person is called whom the distractors are about"),
)
"""Columns of variants, in which it need not be the occupation whose pronoun is missing."""

WHOLE_BY_DEFAULT = (0, 1)
"""Numbers of distractors whose ``test`` is built without being asked for."""


def columns(pronoun_sets: Sequence[PronounSet], variant: Variant = PUBLISHED) -> Columns:
    """Return the published columns for these pronoun sets; variants have two more."""
    names = tuple(pronouns.name for pronouns in pronoun_sets)
    return (
        Column("id", pa.string(), "unique in its split; a row has the same id wherever it stands"),
        Column("text", pa.string(), "the instance, with `___` in place of the missing pronoun"),
        Column("blank", MENTION, "the slot `___` and its offsets in `text`"),
        Column("options", pa.list_(pa.string()), f"forms in this case: {', '.join(names)}"),
        Column("label", pa.int64(), "index of the right option; -1 in `no_context`", names),
        Column("pronoun_set", pa.string(), "set of the right form; null in `no_context`"),
        Column("distractor_set", pa.string(), "set of the distractors' forms; null without them"),
        Column("case", pa.string(), "its grammatical case: nominative, accusative, possessive"),
        Column("occupation", pa.string(), "the person whose pronoun is missing"),
        Column("participant", pa.string(), "the person whom the distractors are about"),
        Column("uid", pa.string(), "upstream's name of the context templates; not unique"),
        *(CALLED if variant.name else ()),
    )


def splits(sources: Sources, options: BuildOptions) -> Iterator[SplitRows]:
    """Yield every config; ``test`` behind more than one distractor with `ALL` only.

    Further pronoun sets fill the templates too. The seeds' splits then hold the paper's rows,
    followed by as many from each group with a further set; ``human`` holds the paper's rows, and no
    variant has it. A variant has no config in which it does not differ from RUFF.
    """
    settings = _settings(sources, options)
    sets: tuple[PronounSet, ...] = options[PRONOUNS]
    variant = options[VARIANT]
    of = columns(sets, variant)
    for instances in settings:
        if options[ALL] or instances.setting.distractors in WHOLE_BY_DEFAULT:
            yield SplitRows(instances.setting.config, "test", of, instances.tables())
        yield from _seed_splits(instances, of)
    yield SplitRows.from_instances("no_context", "test", of, _task_instances(settings[0].setting))
    if not variant.name:
        yield SplitRows("human", "test", of, _human_tables(settings))


def samples(sources: Sources, options: BuildOptions) -> Iterator[SplitRows]:
    """Yield the eighteen splits that the paper evaluates on, and make no other row."""
    for instances in _settings(sources, options):
        of = columns(instances.setting.pronoun_sets, instances.setting.variant)
        yield from _seed_splits(instances, of)


def violations(sources: Sources) -> Iterator[Violation]:
    """Check the templates (RUFF, section 3) and the balance of every setting and sample.

    Of a variant, whose sentences are the same, the rows of the samples are made, not all.
    """
    templates, errors = read_templates(sources)
    yield from map(Violation.of, errors)
    yield from template_violations(templates)
    if not errors:
        for variant in (PUBLISHED, *VARIANTS.values()):
            yield from _variant_violations(templates, variant)
    yield from sources.changed_files()


def _variant_violations(templates: Templates, variant: Variant) -> Iterator[Violation]:
    try:
        settings = _settings_of(templates, PRONOUN_SETS, variant)
    except InputError as error:
        yield Violation.of(error)
        return
    for instances in settings:
        yield from setting_violations(instances, SEEDS)
        if instances.setting.distractors in WHOLE_BY_DEFAULT:
            every = [np.arange(len(instances))]
            rows = [instances.setting.sample(seed) for seed in SEEDS] if variant.name else every
            yield from instance_violations(instances, np.unique(np.concatenate(rows)))


def _settings(sources: Sources, options: BuildOptions) -> list[Instances]:
    """Return the settings of a variant; `InputError` if they cannot be assembled."""
    sets = options[PRONOUNS]
    _refuse_sets(sets)
    templates, errors = read_templates(sources)
    for error in errors:
        raise error
    sources.refuse_changed()
    return _settings_of(templates, sets, options[VARIANT])


def _settings_of(
    templates: Templates, pronoun_sets: tuple[PronounSet, ...], variant: Variant
) -> list[Instances]:
    counts = SETTINGS[variant.fewest :]
    return [Instances(Setting(templates, pronoun_sets, count, variant)) for count in counts]


def read_templates(sources: Sources) -> tuple[Templates, list[InputError]]:
    """Return the rows that can be read, and why the others or all of them cannot be used."""
    task, context = "data/task.tsv", "data/context.tsv"
    tasks, errors = parse_each(parse_task, sources.table(RUFF, "data.zip", TASK, task))
    rows = sources.table(RUFF, "data.zip", CONTEXT, context)
    contexts, further_errors = parse_each(parse_context, rows)
    files = (sources.locate(RUFF, "data.zip", member) for member in (task, context))
    templates = Templates(tasks, contexts, *files)
    return templates, [*errors, *further_errors, *order_errors(templates)]


def _refuse_sets(pronoun_sets: Sequence[PronounSet]) -> None:
    """Raise `InputError` unless RUFF's sets come first and no two have a form in common."""
    if tuple(pronoun_sets[: len(PRONOUN_SETS)]) != PRONOUN_SETS:
        names = ", ".join(pronouns.name for pronouns in PRONOUN_SETS)
        raise InputError("RUFF's own pronoun sets are missing", cure=f"begin with {names}")
    for case in CASES:
        owner: dict[str, str] = {}
        for pronouns in pronoun_sets:
            form = pronouns.form(case)
            if owner.setdefault(form, pronouns.name) != pronouns.name:
                sets = f"the sets '{owner[form]}' and '{pronouns.name}'"
                cause = f"the {case} form '{form}' is that of {sets}, so that two of the options"
                cure = "build RUFF without the second set"
                raise InputError(f"{cause} would be right", cure=cure)


def _seed_splits(instances: Instances, of: Columns) -> Iterator[SplitRows]:
    for seed in SEEDS:
        yield SplitRows(instances.setting.config, f"seed_{seed}", of, instances.sampled(seed))


def _human_tables(settings: Sequence[Instances]) -> Iterator[pa.Table]:
    """Yield 100 rows from the first seed's sample of each setting.

    One `RandomState` serves the settings in the order of upstream's file names, in which more
    distractors sort before fewer; the sample before rows of further pronoun sets is the paper's.
    """
    random = np.random.RandomState(HUMAN_SEED)
    for instances in reversed(settings):
        papers = 3 * len(PRONOUN_SETS) * len(instances.setting.templates.tasks)
        drawn = random.choice(papers, size=min(HUMAN_ROWS, papers), replace=False)
        yield instances.table(instances.setting.sample(SEEDS[0])[drawn])


def _task_instances(setting: Setting) -> Iterator[FillingInstance]:
    """Yield the task sentences alone, for which no form is the right one."""
    for task in setting.templates.tasks:
        start = task.text.index(BLANK)
        called = {"target": task.target, "other": task.other}
        yield FillingInstance(
            id=setting.variant.id_of(task),
            text=task.text,
            blank=Mention(BLANK, start, start + len(BLANK)),
            options=tuple(pronouns.form(task.case) for pronouns in setting.pronoun_sets),
            label=-1,
            columns={
                "case": task.case,
                "occupation": task.occupation,
                "participant": task.participant,
                "uid": "task",
                **(called if setting.variant.name else {}),
            },
        )
