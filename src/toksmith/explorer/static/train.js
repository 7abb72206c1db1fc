import { beginChoosing, chosenText, size } from "./chooser.js";
import { $, ask, element, note, number, remember, remembered } from "./common.js";
import { follow } from "./job.js";

const NAMES = {
  bpe: "Byte-level BPE", wordpiece: "WordPiece", unigram: "Unigram", "sentencepiece-bpe": "SentencePiece BPE",
  "sentencepiece-unigram": "SentencePiece Unigram", word: "Words", char: "Characters",
};
const STAGES = { counting: "Counting the text", merges: "Merging", rounds: "Choosing pieces" };
const MOST_SHOWN = 300;
let options = {}, since = 0, current = null;

async function begin() {
  options = await ask("/ask/options", {});
  $("model").append(...Object.keys(options).map((key) => new Option(NAMES[key] ?? key, key)));
  if (options[remembered("model")]) $("model").value = remembered("model");
  for (const name of ["size", "specials", "separator"]) $(name).value = remembered(name) ?? $(name).value;
  drawOptions();
  await beginChoosing();
  watch();
}

function drawOptions() {
  const before = new Map([...$("options").querySelectorAll("[name]")].map((each) => [each.name, each.value]));
  $("options").replaceChildren(...(options[$("model").value] ?? []).map((option) => {
    const field = option.choices.length
      ? element("select", { name: option.name }, new Option(`${option.default} (as it is)`, ""), ...option.choices.filter((each) => each !== option.default).map((each) => new Option(each, each)))
      : element("input", { type: "text", name: option.name, placeholder: option.default, autocomplete: "off", spellcheck: false, value: before.get(option.name) ?? "" });
    return element("label", { className: "field", title: option.kind }, element("span", { className: "mono", textContent: option.name }), field, element("small", { className: "soft", textContent: option.meaning }));
  }));
}

$("form").addEventListener("submit", async (event) => {
  event.preventDefault();
  const given = Object.fromEntries([...$("options").querySelectorAll("[name]")].filter((each) => each.value !== "").map((each) => [each.name, each.value]));
  remember({ model: $("model").value, size: $("size").value, specials: $("specials").value, separator: $("separator").value });
  try {
    await ask("/ask/train", {
      ...chosenText(), model: $("model").value, vocab_size: Number($("size").value) || 0, options: given,
      special_tokens: $("specials").value.split(/\s+/).filter(Boolean), separator: $("separator").value,
    });
  } catch (wrong) { note(wrong.message); return; }
  since = 0;
  current = null;
  $("merges").replaceChildren();
  $("result").replaceChildren();
  $("merges-title").textContent = "Merges, the last first";
  watch();
});

const watch = () => follow("/ask/training", () => ({ since }), {
  titles: (found) => ({ running: `Training: ${NAMES[found.model] ?? found.model}`, done: `Trained: ${found.key}`, failed: "Training failed", cancelled: "Training was cancelled" }),
  stage(found) {
    const unit = found.stage === "counting" ? size : number;
    const how = found.now || (found.total ? `${unit(found.done)} of ${unit(found.total)}` : "");
    return [STAGES[found.stage], how].filter(Boolean).join(": ");
  },
  draw,
});

function draw(found) {
  if (found.state === "running" && found.curve) $("result").innerHTML = `<div class="plot">${found.curve}</div>`;
  since = found.last;
  for (const merge of found.merges) $("merges").insertAdjacentHTML("afterbegin", merge);
  while ($("merges").children.length > MOST_SHOWN) $("merges").lastElementChild.remove();
  $("merges-title").hidden = !$("merges").children.length;
  if (found.state === "done" && current !== found.key) {
    current = found.key;
    $("result").innerHTML = found.result;
    if (found.learned.length) {
      $("merges").innerHTML = found.learned.join("");
      $("merges-title").textContent = "What it learned, in order";
      $("merges-title").hidden = false;
    }
    const query = new URLSearchParams({ t: found.key });
    $("see").search = $("browse").search = query;
    const fitting = found.model.startsWith("sentencepiece") ? "sentencepiece" : "huggingface";
    $("format").replaceChildren(...Object.keys(found.formats).map((name) => new Option(name, name, false, name === fitting)));
    const named = () => {
      const name = found.formats[$("format").value];
      $("path").value = name.startsWith(".") ? `mine${name}` : name;
    };
    $("format").onchange = named;
    named();
  }
}

$("model").addEventListener("change", drawOptions);
$("save").addEventListener("click", async () => {
  try {
    const { path } = await ask("/ask/save", { tokenizer: current, format: $("format").value, path: $("path").value });
    note(`Saved: ${path}`);
  } catch (wrong) { note(wrong.message); }
});
$("download").addEventListener("click", async () => {
  const query = new URLSearchParams({ t: current, format: $("format").value });
  const response = await fetch(`/ask/download?${query}`, { method: "POST", headers: { "x-toksmith": "1" } });
  if (!response.ok) { note((await response.json()).error); return; }
  const link = element("a", { href: URL.createObjectURL(await response.blob()), download: decodeURIComponent(response.headers.get("x-name")) });
  link.click();
  URL.revokeObjectURL(link.href);
});
begin();
