import { beginChoosing, chosenText, hasChosen, size } from "./chooser.js";
import { $, ask, element, note, number, remember, remembered, say } from "./common.js";
import { follow } from "./job.js";

const NAMES = {
  bpe: "Byte-level BPE", wordpiece: "WordPiece", unigram: "Unigram", "sentencepiece-bpe": "SentencePiece BPE",
  "sentencepiece-unigram": "SentencePiece Unigram", word: "Words", char: "Characters",
};
const STAGES = { counting: "Counting the text", merges: "Merging", rounds: "Choosing pieces" };
const MOST_SHOWN = 300, OTHER = "\u0000other";
let options = {}, since = 0, current = null;

async function begin() {
  options = await ask("/ask/options", {});
  $("model").append(...Object.keys(options).map((key) => new Option(NAMES[key] ?? key, key)));
  if (options[remembered("model")]) $("model").value = remembered("model");
  for (const name of ["size", "specials", "separator"]) $(name).value = remembered(name) ?? $(name).value;
  drawOptions();
  $("more").open = optionsGiven().length > 0;
  await beginChoosing();
  watch();
}

function drawOptions() {
  const before = new Map([...$("options").querySelectorAll("[name]")].map((each) => [each.name, each.value]));
  $("options").replaceChildren(...(options[$("model").value] ?? []).map((option) => {
    const given = before.get(option.name) ?? remembered(`option-${option.name}`) ?? "";
    const field = element(option.choices.length && (option.choices.includes(given) || !given) ? "select" : "input", { name: option.name });
    if (field.matches("select")) {
      field.append(new Option(`${option.default} (as it is)`, ""), ...option.choices.filter((each) => each !== option.default).map((each) => new Option(each, each)));
      if (option.other) field.append(new Option(`${option.other}…`, OTHER));
      field.addEventListener("change", () => { if (field.value === OTHER) { const other = openField(option); field.replaceWith(other); other.focus(); } });
      field.value = given;
    } else {
      Object.assign(field, openField(option, field), { value: given });
    }
    return element("label", { className: "field", title: option.kind }, element("span", { className: "mono", textContent: option.name }), field, element("small", { className: "soft", textContent: option.meaning }));
  }));
}

// A field for any value, also where a list offers some.
function openField(option, field = element("input", { name: option.name })) {
  return Object.assign(field, { type: "text", placeholder: option.other || option.default, autocomplete: "off", spellcheck: false });
}

const optionsGiven = () => [...$("options").querySelectorAll("[name]")].filter((each) => each.value !== "" && each.value !== OTHER).map((each) => [each.name, each.value]);

// The address carries the form, so that it is the same after a reload.
function rememberForm() {
  const cleared = Object.fromEntries(Object.values(options).flat().map((option) => [`option-${option.name}`, null]));
  const given = Object.fromEntries(optionsGiven().map(([name, value]) => [`option-${name}`, value]));
  remember({ model: $("model").value, size: $("size").value, specials: $("specials").value, separator: $("separator").value, ...cleared, ...given });
}

$("form").addEventListener("submit", async (event) => {
  event.preventDefault();
  say("form-error");
  if (!hasChosen()) return;
  const given = Object.fromEntries(optionsGiven());
  rememberForm();
  try {
    await ask("/ask/train", {
      ...chosenText(), model: $("model").value, vocab_size: Number($("size").value) || 0, options: given,
      special_tokens: $("specials").value.split(/\s+/).filter(Boolean), separator: $("separator").value,
    });
  } catch (wrong) { say("form-error", wrong.message); return; }
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
$("form").addEventListener("change", rememberForm);
$("save").addEventListener("click", async () => {
  try {
    const { path } = await ask("/ask/save", { tokenizer: current, format: $("format").value, path: $("path").value });
    say("save-error");
    note(`Saved: ${path}`);
  } catch (wrong) { say("save-error", wrong.message); }
});
$("download").addEventListener("click", async () => {
  const query = new URLSearchParams({ t: current, format: $("format").value });
  const response = await fetch(`/ask/download?${query}`, { method: "POST", headers: { "x-toksmith": "1" } });
  say("save-error", response.ok ? "" : (await response.json()).error);
  if (!response.ok) return;
  const link = element("a", { href: URL.createObjectURL(await response.blob()), download: decodeURIComponent(response.headers.get("x-name")) });
  link.click();
  URL.revokeObjectURL(link.href);
});
begin();
