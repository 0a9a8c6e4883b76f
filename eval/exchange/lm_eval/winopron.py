"""WinoPron in lm-evaluation-harness: generations, one task for each prompt, a group a config."""

from typing import Any

from pronominal.adapters.lm.prompting.prompts import filled, read_templates
from pronominal.eval.exchange.lm_eval.tasks import Function, mean, task

CODE = (
    ("pronominal.adapters.lm.prompting", "answers"),
    ("pronominal.eval.exchange.lm_eval", "prompting"),
)


def groups(place: str, max_new_tokens: int) -> dict[str, list[dict[str, Any]]]:
    """Return the tasks by group, see `HarnessTasks`."""
    writing = {
        "output_type": "generate_until",
        "doc_to_target": "{{candidates[label].text}}",
        "generation_kwargs": {"until": [], "do_sample": False, "max_gen_toks": max_new_tokens},
        "process_results": Function("prompting.process_results"),
        "metric_list": [mean("acc"), mean("none", False), mean("both", False)],
    }
    options = ("{{candidates[0].text}}", "{{candidates[1].text}}")
    # each template in the harness's own language
    prompts = {
        name: filled(template, order, "{{text}}", "{{pronoun.text}}", options)
        for name, (template, order) in read_templates("antecedent").texts.items()
    }
    return {
        f"winopron_{config}": [
            task(f"winopron_{config}_{name.replace('-', '_')}", place, config, "test")
            | {"doc_to_text": prompt}
            | writing
            for name, prompt in prompts.items()
        ]
        for config in ("double", "single")
    }
