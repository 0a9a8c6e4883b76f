"""The table of systems: what ``pronominal systems`` lists and `pronominal.adapters.load` loads."""

from dataclasses import dataclass
from functools import partial
from importlib import import_module
from typing import Any, Literal

from pronominal.adapters.contract.systems import Kind

Rows = Literal["candidates", "slots", "both"]
"""What rows ask: which candidate is meant, which form fills a slot (RUFF), or either."""


@dataclass(frozen=True, slots=True)
class SystemEntry:
    """One line of ``pronominal systems``.

    Attributes:
        kind: how the system answers.
        place: where its class is, as ``module:attribute`` below ``pronominal.adapters``.
        summary: what it does, in one sentence.
        extra: the extra that installs what it needs; None when the core is enough.
        weights: the Hub id of the published weights; the page that links to them (https://...)
            where they are not on the Hub, or the command that makes them (``pronominal ...``),
            or a key of `GIVEN`, so that a checkpoint has to be given; ``in its environment`` where
            they come with that or are fetched in it; None when it has none.
        given: the keyword of the system's own that takes what stands after ``NAME=``: the
            checkpoint, or the address of a server.
        environment: the environment (``pronominal env create``) that it runs in, if it needs one.
        server: the place of the command that starts the server which it asks, if it asks one.
        rows: which rows it answers.
    """

    kind: Kind
    place: str
    summary: str
    extra: str | None = None
    weights: str | None = None
    given: str = "checkpoint"
    environment: str | None = None
    server: str | None = None
    rows: Rows = "candidates"

    @property
    def is_baseline(self) -> bool:
        """Whether it answers without understanding; systems for teaching read the label."""
        teaches = self.place.startswith("baselines.known_faults:")
        return self.place.startswith("baselines.") and not teaches


ANY_MODEL = "any model of transformers"
ANY_WRITER = "any model that writes"

GIVEN: dict[str, str] = {
    ANY_MODEL: "give a folder or a Hub id, as {name}=ORG/NAME",
    ANY_WRITER: "give a folder, a Hub id or a server's URL, as {name}=ORG/NAME",
    "a command": "give the program and its arguments, as {name}='python mine.py'",
    "a URL": "give its address, as {name}=http://localhost:8000/coref",
    "any spaCy pipeline": "give a package or a folder, as {name}=PIPELINE",
}
"""Weights of systems that run anything that they are given -> how to give it."""


def at(place: str) -> Any:
    """Import what is at a place: ``module:attribute`` below ``pronominal.adapters``."""
    module, _, attribute = place.partition(":")
    return getattr(import_module(f"pronominal.adapters.{module}"), attribute)


_clustering = partial(SystemEntry, "clustering")
_choosing = partial(SystemEntry, "choosing")
_language_model = partial(SystemEntry, "language model", rows="slots")
_packaged = partial(_clustering, weights="in its environment")
_of_transformers = partial(_language_model, extra="lm", weights=ANY_MODEL)
_of_vllm = partial(_language_model, extra="vllm", weights=ANY_MODEL)

SYSTEMS: dict[str, SystemEntry] = {
    "allennlp": _packaged(
        "remote.packaged:allennlp",
        "AllenNLP's coreference: Lee et al. (2018) on SpanBERT",
        given="archive",
        environment="allennlp",
    ),
    "always-he": _language_model(
        "baselines.pronouns:AlwaysHe", "fills every slot with a form of he"
    ),
    "bag-of-words": _choosing(
        "baselines.bag_of_words:BagOfWords",
        "logistic regression over the words around the mentions, their names removed",
        weights="pronominal train bag-of-words",
    ),
    "bert": _choosing(
        "bert.system:BERT",
        "a classifier of antecedents on any encoder, as KnowRef's BERT (Emami et al., 2019)",
        extra="bert",
        weights="pronominal train bert",
    ),
    "bert-coref": _clustering(
        "c2f.bert.system:BERTCoref",
        "BERT below the coarse-to-fine head (Joshi et al., 2019), base and large",
        extra="c2f",
        weights="https://github.com/mandarjoshi90/coref",
    ),
    "caw": _clustering(
        "caw.system:CAW",
        "CAW-coref (D'Oosterlinck et al., 2023) and WL-coref (Dobrovolskii, 2021), word-level",
        extra="caw",
        weights="https://github.com/KarelDO/wl-coref",
    ),
    "command": _clustering(
        "remote.command:command",
        "a program of your own that reads and writes JSONL, in a process of its own",
        weights="a command",
        given="command",
        rows="both",
    ),
    "coreferee": _packaged(
        "remote.packaged:coreferee",
        "coreferee, rules and a neural ensemble on a spaCy parse",
        given="pipeline",
        environment="coreferee",
    ),
    "corenlp-neural": _clustering(
        "corenlp.system:CoreNLPNeural",
        "Stanford CoreNLP's Deep-RL (Clark and Manning, 2016), through a server of your own",
        given="url",
        server="corenlp.server:START",
    ),
    "corenlp-rule": _clustering(
        "corenlp.system:CoreNLPRule",
        "Stanford CoreNLP's rules (Raghunathan et al., 2010), through a server of your own",
        given="url",
        server="corenlp.server:START",
    ),
    "corenlp-statistical": _clustering(
        "corenlp.system:CoreNLPStatistical",
        "Stanford CoreNLP's statistical system (Clark and Manning, 2015), through a server of "
        "your own",
        given="url",
        server="corenlp.server:START",
    ),
    "e2e": _clustering(
        "c2f.e2e.system:E2E",
        "E2E (Lee et al., 2018), higher-order inference on LSTMs and ELMo",
        extra="c2f",
        weights="https://github.com/kentonl/e2e-coref",
    ),
    "fcoref": _clustering(
        "fastcoref.fcoref:FCoref",
        "FCoref, the small coreference model distilled from LingMess (Otmazgin et al., 2022)",
        extra="lingmess",
        weights="biu-nlp/f-coref",
    ),
    "first-mention": _choosing(
        "baselines.mention_order:FirstMention", "takes the candidate that is mentioned first"
    ),
    "first-pronoun": _language_model(
        "baselines.pronouns:FirstPronoun", "repeats the first pronoun of the text"
    ),
    "gap-parallelism": _choosing(
        "baselines.gap:GapParallelism",
        "takes the closest candidate in the pronoun's grammatical role (Webster et al., 2018)",
    ),
    "gap-parallelism-url": _choosing(
        "baselines.gap:GapParallelismURL",
        "takes the candidate in the page's title, else as gap-parallelism (Webster et al., 2018)",
    ),
    "http": _clustering(
        "remote.endpoint:http",
        "a system of your own behind an HTTP address",
        weights="a URL",
        given="url",
        rows="both",
    ),
    "last-mention": _choosing(
        "baselines.mention_order:LastMention", "takes the candidate that is mentioned last"
    ),
    "last-pronoun": _language_model(
        "baselines.pronouns:LastPronoun", "repeats the last pronoun before the slot"
    ),
    "lingmess": _clustering(
        "fastcoref.lingmess:LingMess",
        "LingMess, linguistically informed multi-expert scorers (Otmazgin et al., 2023)",
        extra="lingmess",
        weights="biu-nlp/lingmess-coref",
    ),
    "lm": _of_transformers(
        "lm.scoring.system:LanguageModel",
        "any causal or masked model, by (pseudo-)log-likelihoods of the filled texts",
    ),
    "lm-coref": _clustering(
        "lm.coreference.system:MarkingModel",
        "any model that writes, local or on a server, marking the clusters in a copy of the text",
        extra="lm",
        weights=ANY_WRITER,
        given="model",
    ),
    "lm-coref-questions": _language_model(
        "lm.coreference.questions:QuestionModel",
        "any model that writes, local or on a server, asked what a pronoun refers to",
        extra="lm",
        weights=ANY_WRITER,
        given="model",
        rows="candidates",
    ),
    "lm-multiple-choice": _of_transformers(
        "lm.prompting.multiple_choice:MultipleChoiceModel",
        "any causal or sequence-to-sequence model, which option it prefers as a prompt's answer",
        rows="both",
    ),
    "lm-prompts": _of_transformers(
        "lm.prompting.generation:PromptedModel",
        "any model that writes, prompted as the papers prompt FLAN-T5 and Llama-2-chat",
        rows="both",
    ),
    "lm-prompts-vllm": _of_vllm(
        "lm.engines.vllm_prompts:VllmPrompts",
        "any causal model that vLLM runs in this process, prompted as lm-prompts",
        rows="both",
    ),
    "lm-server": _language_model(
        "lm.prompting.server:ServedModel",
        "a model behind a local server that speaks OpenAI's protocol, prompted as lm-prompts",
        given="url",
        server="lm.prompting.server:START",
        rows="both",
    ),
    "lm-server-scores": _language_model(
        "lm.engines.served_scores:ServedScores",
        "a model behind a local server of vLLM or SGLang, by log-likelihoods of the filled texts",
        given="url",
        server="lm.prompting.server:START",
    ),
    "lm-two-questions": _of_transformers(
        "lm.continuation.system:TwoQuestions",
        "any causal model, which form it finds likeliest and which one it writes itself",
    ),
    "lm-vllm": _of_vllm(
        "lm.engines.vllm_scores:VllmScores",
        "any causal model that vLLM runs in this process, by log-likelihoods of the filled texts",
    ),
    "maverick": _packaged(
        "remote.packaged:maverick",
        "Maverick (Martinelli et al., 2024), mention extraction and linking on DeBERTa",
        environment="maverick",
    ),
    "nearest-mention": _choosing(
        "baselines.mention_order:NearestMention", "takes the last candidate before the pronoun"
    ),
    "neuralcoref": _clustering(
        "neuralcoref.system:NeuralCoref",
        "neuralcoref 4.0 (Wolf, 2017), a mention-pair network on a spaCy parse: WinoNB's C&M++",
        extra="neuralcoref",
        weights="https://github.com/huggingface/neuralcoref",
    ),
    "parallelism": _choosing(
        "baselines.parallelism:Parallelism",
        "takes the first-mentioned candidate for a subject form such as she or xe, "
        "and the last one before the pronoun for any other form",
    ),
    "random": _choosing(
        "baselines.chance:Random", "takes a candidate at random, the same one for a seed"
    ),
    "spacy": _clustering(
        "spacy_pipeline:SpacyPipeline",
        "a spaCy pipeline that finds coreference: spacy-experimental's, fastcoref's, coreferee's",
        extra="spacy",
        weights="any spaCy pipeline",
        given="pipeline",
    ),
    "spacy-experimental": _packaged(
        "remote.packaged:spacy_experimental",
        "spaCy's word-level coreference, as Dobrovolskii (2021)",
        given="pipeline",
        environment="spacy-experimental",
    ),
    "spanbert": _clustering(
        "c2f.bert.system:SpanBERT",
        "SpanBERT below the coarse-to-fine head (Joshi et al., 2020), base and large",
        extra="c2f",
        weights="https://github.com/mandarjoshi90/coref",
    ),
    "stanza": _clustering(
        "stanza:Stanza",
        "the coreference models of Stanza (Qi et al., 2020), word-level",
        extra="stanza",
        weights="https://huggingface.co/stanfordnlp/stanza-en",
    ),
    "text-generation": _of_transformers(
        "lm.prompting.text_generation:TextGeneration",
        "a text-generation pipeline of transformers, prompted as lm-prompts",
        given="pipeline",
        rows="both",
    ),
    "toy-blind-to-xe": _choosing(
        "baselines.known_faults:BlindToXe",
        "for teaching: reads the answer, and finds none for xe and other neopronouns",
    ),
    "toy-nine-in-ten": _choosing(
        "baselines.known_faults:NineInTen", "for teaching: reads the answer, right 9 times in 10"
    ),
    "toy-stereotypes": _choosing(
        "baselines.known_faults:Stereotypes",
        "for teaching: reads the answer, and follows stereotypes of occupations with he and she",
    ),
}
