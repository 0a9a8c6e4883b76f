"""Chat templates of our own that end a prompt as those of the named families are known to."""

QWEN3 = (
    "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}"
    "<|im_start|>assistant\n"
    "{% if enable_thinking is defined and not enable_thinking %}<think>\n\n</think>\n\n{% endif %}"
)

QWEN3_THINKING = (
    "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}"
    "<|im_start|>assistant\n<think>\n"
)

DEEPSEEK_V31 = (
    "{{ bos_token }}{% for m in messages %}<｜User｜>{{ m.content }}{% endfor %}"
    "<｜Assistant｜>{% if thinking is defined and thinking %}<think>{% else %}</think>{% endif %}"
)

GLM = (
    "[gMASK]<sop>{% for m in messages %}<|user|>\n{{ m.content }}"
    "{% if enable_thinking is defined and not enable_thinking %}/nothink{% endif %}{% endfor %}"
    "<|assistant|>"
    "{% if enable_thinking is defined and not enable_thinking %}\n<think></think>{% endif %}"
)

GPT_OSS = (
    "<|start|>system<|message|>Today: {{ strftime_now('%Y-%m-%d') }}\n"
    "Reasoning: {{ reasoning_effort | default('medium') }}<|end|>"
    "{% for m in messages %}<|start|>{{ m.role }}<|message|>{{ m.content }}<|end|>{% endfor %}"
    "<|start|>assistant{# <|channel|>analysis or final #}"
)

# without a system turn these ask for thoughts themselves, and so name the delimiters
MAGISTRAL = (
    "<s>{% if messages[0].role != 'system' %}[SYSTEM_PROMPT]Think first, in this form:"
    "[THINK]whatever you think[/THINK]Then answer.[/SYSTEM_PROMPT]{% endif %}"
    "{% for m in messages %}[INST]{{ m.content }}[/INST]{% endfor %}"
)
MAGISTRAL_2506 = MAGISTRAL.replace("[THINK]", "\n<think>\n").replace("[/THINK]", "\n</think>\n")

SOLAR = (
    "{% for m in messages %}<|begin|>{{ m.role }}<|content|>{{ m.content }}<|end|>{% endfor %}"
    "{% if reasoning_effort is defined and reasoning_effort == 'low' %}"
    "<|begin|>assistant<|think|><|end|>{% endif %}<|begin|>assistant"
)

GEMMA4 = (
    "<bos>{% if enable_thinking is defined and enable_thinking %}<|turn>system\n<|think|><turn|>\n"
    "{% endif %}{% for m in messages %}<|turn>user\n{{ m.content }}<turn|>\n{% endfor %}"
    "<|turn>model\n{% if not (enable_thinking is defined and enable_thinking) %}"
    "<|channel>thought\n<channel|>{% endif %}"
)

COMMAND_A = (
    "{% for m in messages %}<|START_OF_TURN_TOKEN|><|USER_TOKEN|>{{ m.content }}{% endfor %}"
    "<|START_OF_TURN_TOKEN|><|CHATBOT_TOKEN|>"
    "{% if reasoning is defined and not reasoning %}<|START_THINKING|><|END_THINKING|>{% endif %}"
)

SMOLLM3 = (
    "<|im_start|>system\nToday Date: {{ strftime_now('%d %B %Y') }}\n<|im_end|>\n"
    "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}"
    "<|im_start|>assistant\n"
    "{% if enable_thinking is defined and not enable_thinking %}<think>\n\n</think>\n{% endif %}"
)

LLAMA3 = (
    "{% set date_string = strftime_now('%d %b %Y') %}"
    "<|start_header_id|>system<|end_header_id|>\n\nToday Date: {{ date_string }}<|eot_id|>"
    "{% for m in messages %}<|start_header_id|>{{ m.role }}<|end_header_id|>\n\n"
    "{{ m.content }}<|eot_id|>{% endfor %}<|start_header_id|>assistant<|end_header_id|>\n\n"
)

SEED = "{% for m in messages %}<seed:bos>user\n{{ m.content }}<seed:eos>{% endfor %}<seed:bos>assistant\n{# <seed:think> #}"  # noqa: E501

SPECIAL = [
    *("<|im_start|>", "<|im_end|>", "<｜User｜>", "<｜Assistant｜>", "<|user|>", "<|assistant|>"),
    *("<|start|>", "<|end|>", "<|message|>", "<|channel|>", "<|return|>", "[INST]", "[/INST]"),
    *("[THINK]", "[/THINK]", "<|turn>", "<turn|>", "<|channel>", "<channel|>", "<seed:eos>"),
    *("<|START_THINKING|>", "<|END_THINKING|>", "<|START_RESPONSE|>", "<|END_RESPONSE|>"),
    *("<|begin|>", "<|content|>", "<|think|>", "[SYSTEM_PROMPT]", "[/SYSTEM_PROMPT]"),
    *("<|eot_id|>", "<seed:bos>", "<｜end▁of▁sentence｜>", "</s>", "<|CHATBOT_TOKEN|>"),
]
"""Tokens of these families that a decoder leaves out unless it is told to keep them."""

FAMILIES: dict[str, tuple[str, list[tuple[str, str, str]]]] = {
    "Qwen3": (
        QWEN3,
        [
            ("<think>\nhe?\n</think>\n\nshe<|im_end|>", "answered", "she"),
            ("<think>\nhe, or she", "unfinished", ""),
            ("they<|im_end|>", "answered", "they"),
        ],
    ),
    "Qwen3 Thinking": (
        QWEN3_THINKING,
        [
            ("he?\n</think>\n\nshe<|im_end|>", "answered", "she"),
            ("he, or she", "unfinished", ""),
            ("done\n</think>\n\n<|im_end|>", "empty", ""),
        ],
    ),
    "DeepSeek-V3.1": (DEEPSEEK_V31, [("xe<｜end▁of▁sentence｜>", "answered", "xe")]),
    "GLM-4.5": (
        GLM,
        [
            ("\n<think>he</think>\nshe<|user|>", "answered", "she"),
            ("\n<think></think>\nthey<|user|>", "answered", "they"),
            ("\n<think>he", "unfinished", ""),
        ],
    ),
    "gpt-oss": (
        GPT_OSS,
        [
            (
                "<|channel|>analysis<|message|>he?<|end|><|start|>assistant"
                "<|channel|>final<|message|>she<|return|>",
                "answered",
                "she",
            ),
            ("<|channel|>analysis<|message|>he or she", "unfinished", ""),
            ("<|channel|>final<|message|>they<|return|>", "answered", "they"),
        ],
    ),
    "Magistral": (
        MAGISTRAL,
        [
            ("[THINK]he?[/THINK]she</s>", "answered", "she"),
            ("[THINK]he or she", "unfinished", ""),
            ("they</s>", "answered", "they"),
        ],
    ),
    "Magistral 2506": (
        MAGISTRAL_2506,
        [
            ("<think>\nhe?\n</think>\n\nshe</s>", "answered", "she"),
            ("<think>\nhe or she", "unfinished", ""),
            ("they</s>", "answered", "they"),
        ],
    ),
    "Solar Open": (
        SOLAR,
        [
            (
                "<|think|>he?<|end|><|begin|>assistant<|content|>she<|end|>",
                "answered",
                "she",
            ),
            ("<|think|>he or she", "unfinished", ""),
            ("<|content|>they<|end|>", "answered", "they"),
        ],
    ),
    "Gemma 4": (GEMMA4, [("she<turn|>", "answered", "she")]),
    "Command A Reasoning": (
        COMMAND_A,
        [
            (
                "<|START_THINKING|>he?<|END_THINKING|><|START_RESPONSE|>she<|END_RESPONSE|>",
                "answered",
                "she",
            ),
            ("<|START_THINKING|>he or she", "unfinished", ""),
        ],
    ),
    "SmolLM3": (
        SMOLLM3,
        [
            ("<think>\nhe?\n</think>\nshe<|im_end|>", "answered", "she"),
            ("<think>\nhe or", "unfinished", ""),
        ],
    ),
    "Llama 3": (LLAMA3, [("she<|eot_id|>", "answered", "she")]),
    "Seed-OSS": (
        SEED,
        [
            ("<seed:think>he?</seed:think>she<seed:eos>", "answered", "she"),
            ("<seed:think>he or she", "unfinished", ""),
        ],
    ),
}
"""Family -> its template, and what its model writes, whether that is an answer, and which."""
