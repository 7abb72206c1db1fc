"""Settings of a model folder that change no ids: roles of tokens, lengths, chat templates."""

from __future__ import annotations

from collections.abc import Mapping

from toksmith._base.records import dataclass, field
from toksmith._base.visible import short_repr
from toksmith.framing.lengths import Direction

DEFAULT = "default"
"""The name of the chat template that is used unless another one is named."""


@short_repr
@dataclass(frozen=True)
class Settings:
    """The settings that a model folder holds beside its vocabulary.

    Attributes:
        roles: the literals of special tokens by role (``"bos_token"``, ``"eos_token"``,
            ``"unk_token"``, ``"sep_token"``, ``"pad_token"``, ``"cls_token"``, ``"mask_token"``);
            ``None`` if no file names any, so that roles follow from the pipeline.
        model_max_length: the most tokens that the model takes; ``None`` if it is not known.
        padding_side: the end at which rows are padded; ``None`` if it is not known.
        truncation_side: the end at which texts are cut; ``None`` if it is not known.
        chat_templates: Jinja templates by name; ``"default"`` is the one used for chats.

    Example:
        >>> settings = Settings({"eos_token": "</s>"}, model_max_length=512)
        >>> settings.model_max_length, settings.chat_template
        (512, None)
    """

    roles: Mapping[str, str] | None = None
    model_max_length: int | None = None
    padding_side: Direction | None = None
    truncation_side: Direction | None = None
    chat_templates: Mapping[str, str] = field(default_factory=dict)

    @property
    def chat_template(self) -> str | None:
        """The text of the default chat template; ``None`` if there is none.

        Example:
            >>> Settings(chat_templates={"default": "{{ messages }}"}).chat_template
            '{{ messages }}'
        """
        return self.chat_templates.get(DEFAULT)


NO_SETTINGS = Settings()
