"""A loopback server that answers as vLLM, SGLang, llama.cpp and Ollama do, about a thinking model.

Written from what is public of their protocols: the fields of a reply, where a thought goes, finish
reasons, and what each of them refuses. The model thinks for `THOUGHT` tokens and answers with the
last word of its prompt.
"""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from tests.adapters.remote.own_server import Handler, serving

THOUGHT, PROMPT = 100, 30

OWNERS = {"vllm": "vllm", "sglang": "sglang", "llama.cpp": "llamacpp", "ollama": "library"}
VERSIONS = {
    "vllm": ("/version", {"version": "0.11.2"}),
    "sglang": ("/get_server_info", {"version": "0.5.6"}),
    "llama.cpp": ("/props", {"build_info": "b6900-1a2b3c"}),
    "ollama": ("/api/version", {"version": "0.13.0"}),
}
FIELDS = {
    "vllm": "reasoning",
    "sglang": "reasoning_content",
    "llama.cpp": "reasoning_content",
    "ollama": "reasoning",
}


@dataclass
class ServedProgram:
    """What the server is, and what it was asked.

    Attributes:
        program: which of the four.
        parses: whether it tells thoughts from answers, as with a reasoning parser.
        opens: whether the chat template begins the thought, so that only its end is written.
        thinks: whether the model thinks when it is not switched off.
        wordy: how many tokens its answer has.
        gone_after: after how many answers it closes connections.
        longest: how many tokens a prompt, which has `PROMPT`, and its answer may have.
        reason: a finish reason that it always gives.
    """

    program: str
    parses: bool = True
    opens: bool = False
    thinks: bool = True
    wordy: int = 1
    gone_after: int | None = None
    longest: int | None = None
    reason: str | None = None
    asked: list[tuple[str, Any]] = field(default_factory=list)
    answered: int = 0
    url: str = ""

    def reply(self, path: str, content: Any) -> tuple[int, Any]:
        if path == "/v1/models":
            longest = {} if self.longest is None else {"max_model_len": self.longest}
            card = {"id": "tiny", "owned_by": OWNERS[self.program], **longest}
            return 200, {"data": [card]}
        if path == VERSIONS[self.program][0]:
            return 200, VERSIONS[self.program][1]
        if path == "/v1/chat/completions":
            if self.longest is not None and content["max_tokens"] > self.longest - PROMPT:
                return 400, {"error": {"message": "'max_tokens' is too large"}}
            return 200, self.chat(content)
        if path == "/v1/completions":
            return self.completion(content)
        if path == "/generate" and self.program == "sglang":
            return 200, self.native(content)
        return 404, {"error": {"message": "not found"}}

    def switched_off(self, content: Any) -> bool:
        if self.program == "ollama":
            return bool(content.get("reasoning_effort") == "none")
        return content.get("chat_template_kwargs", {}).get("enable_thinking") is False

    def chat(self, content: Any) -> Any:
        answer = content["messages"][0]["content"].split()[-1]
        room = content["max_tokens"]
        thinks = self.thinks and not self.switched_off(content)
        needed = self.wordy + THOUGHT * thinks
        reason = "stop" if room >= needed else "length"
        thought = "he or she, or they?" if thinks else ""
        finished = room > THOUGHT or not thinks
        if self.parses or self.program == "ollama" or not thinks:
            empty = "" if self.program == "ollama" else None
            message = {"role": "assistant", "content": answer if finished else empty}
            message |= {FIELDS[self.program]: thought} if thinks else {}
        else:
            opening = "" if self.opens else "<think>"
            closing = f"</think>{answer}" if finished else ""
            message = {"role": "assistant", "content": f"{opening}{thought}{closing}"}
        choice = {"index": 0, "message": message, "finish_reason": self.reason or reason}
        usage = {"prompt_tokens": PROMPT, "completion_tokens": min(room, needed)}
        return {"choices": [choice], "usage": usage}

    def completion(self, content: Any) -> tuple[int, Any]:
        prompt, echo = content["prompt"], content.get("echo")
        if echo and self.program == "llama.cpp":
            return 400, {"error": {"message": "Only no echo is supported"}}
        choice: dict[str, Any] = {"index": 0, "text": prompt.split()[-1], "finish_reason": "length"}
        if echo and self.program != "ollama":
            tokens = tokens_of(prompt)
            numbers = [*scores_of(tokens), -9.0]  # the last one is of what it wrote
            choice["text"] = prompt + " so"
            choice["logprobs"] = {"tokens": [*tokens, " so"], "token_logprobs": numbers}
        usage = {"prompt_tokens": len(tokens_of(prompt)), "completion_tokens": 1}
        return 200, {"choices": [choice], "usage": usage}

    def native(self, content: Any) -> Any:
        tokens = tokens_of(content["text"])
        triples = [[one, at, None] for at, one in enumerate(scores_of(tokens))]
        return {"text": " so", "meta_info": {"input_token_logprobs": triples}}


def tokens_of(text: str) -> list[str]:
    """Cut a text as the server's tokenizer does, with a first token of its own."""
    return ["<s>", *text.replace(" ", " |").split("|")]


def scores_of(tokens: list[str]) -> list[float | None]:
    """Return the server's log-probability of each token: the longer, the less likely."""
    return [None, *(-len(token) / 10 for token in tokens[1:])]


@contextmanager
def served_program(program: str, **settings: Any) -> Iterator[ServedProgram]:
    """Serve on this machine as one of the four programs."""
    found = ServedProgram(program, **settings)

    class Model(Handler):
        def asked(self, content: bytes) -> None:
            if found.gone_after is not None and found.answered >= found.gone_after:
                self.close_connection = True
                return
            asked = json.loads(content) if content else None
            found.asked.append((self.path, asked))
            status, reply = found.reply(self.path, asked)
            found.answered += self.path.endswith(("completions", "/generate"))
            self.answer(status, json.dumps(reply).encode())

    with serving(Model) as found.url:
        yield found
