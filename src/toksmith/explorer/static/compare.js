import { beginChoosing, chosenText, size } from "./chooser.js";
import { $, allRemembered, ask, element, note, remember, remembered } from "./common.js";

const EVERY = 250, MOST = 8;
let drawn = false;

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
  if (chosen().length > MOST) { note(`${MOST} tokenizers are compared at once, and no more.`); return; }
  remember({ t: chosen(), separator: $("separator").value });
  try {
    await ask("/ask/compare", { ...chosenText(), tokenizers: chosen(), separator: $("separator").value });
  } catch (wrong) { note(wrong.message); return; }
  drawn = false;
  $("report").replaceChildren();
  watch();
});

async function watch() {
  let found;
  try { found = await ask("/ask/comparing", {}); } catch (wrong) { note(wrong.message || "The explorer has ended."); return; }
  draw(found);
  if (found.state === "running") setTimeout(watch, EVERY);
}

function draw(found) {
  const isRunning = found.state === "running";
  $("idle").hidden = found.state !== "none";
  $("running").hidden = found.state === "none";
  $("start").disabled = isRunning;
  $("cancel").hidden = $("bar").hidden = !isRunning;
  $("keep").hidden = found.state !== "done";
  if (found.state === "none") return;
  $("status").textContent = { running: "Measuring", done: "Compared", failed: "This could not be compared", cancelled: "Measuring was cancelled" }[found.state];
  $("status").className = found.state === "failed" ? "error" : "";
  if (found.total) { $("bar").max = found.total; $("bar").value = found.done; } else $("bar").removeAttribute("value");
  $("stage").textContent = found.state === "failed" ? found.error : !isRunning ? "" : found.total ? `${found.now}, ${size(found.done)} of ${size(found.total)}` : "Starting";
  $("warnings").replaceChildren(...found.warnings.map((warning) => element("li", { textContent: warning })));
  if (found.state === "done" && !drawn) {
    drawn = true;
    $("report").innerHTML = found.report;
  }
}

$("cancel").addEventListener("click", () => ask("/ask/cancel", {}).catch((wrong) => note(wrong.message)));
$("keep").addEventListener("click", async (event) => {
  const form = event.target.dataset.form;
  if (!form) return;
  try {
    const { name, text } = await ask("/ask/comparison", { form });
    const link = element("a", { href: URL.createObjectURL(new Blob([text])), download: name });
    link.click();
    URL.revokeObjectURL(link.href);
  } catch (wrong) { note(wrong.message); }
});
begin();
