import { beginChoosing, chosenText, hasChosen, size } from "./chooser.js";
import { $, allRemembered, ask, element, note, remember, remembered, say } from "./common.js";
import { follow } from "./job.js";

const MOST = 8;
let drawn = false, isOurs = false;

async function begin() {
  const shelf = await ask("/ask/tokenizers");
  const wanted = new Set(allRemembered("t"));
  if (![...wanted].some((key) => shelf.some((entry) => entry.key === key))) for (const entry of shelf) if (entry.given) wanted.add(entry.key);
  $("tokenizers").replaceChildren(...shelf.map((entry) => {
    const box = element("input", { type: "checkbox", value: entry.key, checked: wanted.has(entry.key) });
    box.addEventListener("change", () => remember({ t: chosen() }));
    return element("label", { className: "entry" }, box, element("span", { className: "name", textContent: entry.name }));
  }));
  $("separator").value = remembered("separator") ?? "";
  await beginChoosing();
  watch();
}

const chosen = () => [...$("tokenizers").querySelectorAll("input:checked")].map((box) => box.value);

$("form").addEventListener("submit", async (event) => {
  event.preventDefault();
  say("form-error");
  const count = chosen().length;
  say("tokenizers-error", count > MOST ? `At most ${MOST} tokenizers are compared: leave out ${count - MOST}.` : count ? "" : "Choose a tokenizer first.");
  if (count > MOST || !count) { $("tokenizers").querySelector("input").focus(); return; }
  if (!hasChosen()) return;
  remember({ t: chosen(), separator: $("separator").value });
  try {
    await ask("/ask/compare", { ...chosenText(), tokenizers: chosen(), separator: $("separator").value });
  } catch (wrong) { say("form-error", wrong.message); return; }
  drawn = false;
  isOurs = true;
  $("report").replaceChildren();
  watch();
});

const watch = () => follow("/ask/comparing", () => ({}), {
  titles: () => ({ running: "Measuring", done: "Compared", failed: "This could not be compared", cancelled: "Measuring was cancelled" }),
  stage: (found) => found.total ? `${found.now}, ${size(found.done)} of ${size(found.total)}` : "",
  draw(found) {
    if (found.state !== "done" || drawn) return;
    drawn = true;
    $("report").innerHTML = found.report;
    const { files } = chosenText();
    if (isOurs) $("choice-said").textContent = `${chosen().length} tokenizers · ${files.length ? `${files.length} file${files.length === 1 ? "" : "s"}` : "a text"}`;
    if (isOurs) $("choice").open = false;  // else the form may be for another comparison
  },
});

$("keep").addEventListener("click", async (event) => {
  const { form, copy } = event.target.dataset;
  if (!form && !copy) return;
  try {
    if (copy) {
      const { text } = await ask("/ask/comparison", { form: copy });
      await navigator.clipboard.writeText(text);
      note("The tables are copied.");
      return;
    }
    const { name, text } = await ask("/ask/comparison", { form });
    const link = element("a", { href: URL.createObjectURL(new Blob([text])), download: name });
    link.click();
    URL.revokeObjectURL(link.href);
  } catch (wrong) { note(wrong.message); }
});
begin();
