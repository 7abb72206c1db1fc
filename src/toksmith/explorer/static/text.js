import { $, allRemembered, ask, element, later, note, number, remember, remembered, say, send } from "./common.js";
import { keepClear, showToken } from "./details.js";

const MOST = 4, LONGEST_IN_LINK = 2000, LONGEST_IN_AREA = 200_000, OPEN = "\u0000open", BUILT_IN = "toksmith-small";
const EXAMPLES = {
  "English": "The quick brown fox jumps over the lazy dog. Tokenization isn't free: unbelievably long words cost more.",
  "Code": "def fib(n):\n    a, b = 0, 1\n    for _ in range(n):\n        a, b = b, a + b\n    return a  # 832040 == fib(30)\n",
  "Numbers": "127 + 677 = 804, 1275 + 6773 = 8041\n3.14159265358979 2026-11-21 0x7FFF 1,000,000",
  "한국어": "만나서 반가워요. 저는 토크나이저입니다.",
  "日本語 中文": "東京特許許可局。 人工智能正在改变世界。",
  "العربية": "مرحبا بالعالم! تقسيم النص إلى رموز.",
  "हिन्दी": "नमस्ते दुनिया! टोकन क्या होते हैं?",
  "ไทย": "สวัสดีชาวโลก ยินดีต้อนรับ",
  "Emoji": "👋🏽 Hello 👩‍👩‍👧‍👦 family, 🇰🇷 flags & ❤️‍🔥!",
};
const text = $("text");
let shelf = [], chosen = [], start = 0, shown = null, isAsking = false, isStale = false;
let kept = null;  // a text that is too large for the text area: the server has it

async function begin() {
  shelf = await ask("/ask/tokenizers");
  const known = new Set(shelf.map((entry) => entry.key));
  chosen = allRemembered("t").filter((key) => known.has(key)).slice(0, MOST);
  if (!chosen.length) {
    const given = shelf.filter((entry) => entry.given);
    const first = shelf.find((entry) => entry.key === BUILT_IN) ?? shelf[0];
    chosen = (given.length ? given : [first]).slice(0, MOST).map((entry) => entry.key);
    $("welcome").hidden = given.length > 0 || first.key !== BUILT_IN || localStorage.getItem("welcomed") === "1";
  }
  text.value = remembered("text") ?? EXAMPLES.English;
  if (remembered("file")) await ask("/ask/kept", { file: remembered("file") }).then(showFile, (wrong) => say("text-error", wrong.message));
  $("ids").checked = localStorage.getItem("ids") !== "0";
  start = Number(remembered("start")) || 0;
  $("special").checked = remembered("special") === "1";
  $("template").checked = remembered("template") === "1";
  $("example").append(new Option("Examples", ""), ...Object.keys(EXAMPLES).map((name) => new Option(name, name)));
  drawChosen();
  refresh();
}

function drawChosen() {
  $("chosen").replaceChildren(...chosen.map((key) => {
    const remove = element("button", { type: "button", textContent: "✕", title: `Leave out ${key}` });
    remove.setAttribute("aria-label", `Leave out ${key}`);
    remove.addEventListener("click", () => choose(chosen.filter((other) => other !== key)));
    return element("span", { className: "chip" }, element("span", { textContent: key, title: key }), remove);
  }));
  const left = shelf.filter((entry) => !chosen.includes(entry.key));
  $("add").replaceChildren(new Option(chosen.length < MOST ? "+ Add a tokenizer" : "Four at most", ""),
    ...left.map((entry) => new Option(entry.name, entry.key)), new Option("Open a file…", OPEN));
  $("add").disabled = chosen.length >= MOST;
}

function choose(keys) {
  chosen = keys;
  drawChosen();
  refresh();
}

const given = () => kept ? { file: kept.key } : { text: text.value };

// Texts above a size are sent once and stay out of the text area, which would freeze the page.
async function keep(data, name) {
  say("text-error");
  try {
    showFile(await send(`/ask/text?name=${encodeURIComponent(name)}`, data));
    text.value = "";
    start = 0;
    refresh();
  } catch (wrong) { say("text-error", wrong.message); }
}

async function openText(file) {
  if (file.size > LONGEST_IN_AREA) { await keep(file, file.name); return; }
  const data = await file.text();
  if (data.includes("\0")) { say("text-error", `${file.name} is not text: it holds zero bytes. Choose a text file.`); return; }
  say("text-error");
  showFile(null);
  text.value = data;
  start = 0;
  refresh();
}

function showFile(card) {
  kept = card;
  text.hidden = card !== null;
  $("file").hidden = card === null;
  if (!card) return;
  $("file-name").textContent = card.name;
  $("file-said").textContent = card.invalid
    ? `${number(card.invalid)} byte${card.invalid === 1 ? " is" : "s are"} invalid UTF-8, shown as U+FFFD.`
    : "Too large to edit here: page through it below.";
}

// One request at a time: while the server works, only the newest text waits to be sent.
async function refresh() {
  remember({ t: chosen, file: kept?.key ?? null, text: !kept && text.value.length <= LONGEST_IN_LINK ? text.value : null,
    start: start || null, special: $("special").checked, template: $("template").checked });
  if (isAsking) { isStale = true; return; }
  isAsking = true;
  $("panels").setAttribute("aria-busy", "true");
  do {
    isStale = false;
    try {
      const found = await ask("/ask/tokens", {
        ...given(), tokenizers: chosen, start,
        special: $("special").checked ? "encode" : "text", template: $("template").checked,
      });
      if (!isStale) draw(found);
    } catch (wrong) {
      say("text-error", wrong.message || "The explorer has ended: start it again.");
    }
  } while (isStale);
  isAsking = false;
  $("panels").removeAttribute("aria-busy");
}

function draw(found) {
  shown = found;
  const { characters, bytes } = found;
  $("size").replaceChildren(element("b", { textContent: number(characters) }), ` character${characters === 1 ? "" : "s"} · `,
    element("b", { textContent: number(bytes) }), ` byte${bytes === 1 ? "" : "s"}`);
  const isPart = found.end - found.start < characters;
  $("pager").hidden = !isPart;
  $("place").max = Math.max(characters - 1, 0);
  $("place").value = found.start;
  $("where").textContent = `${number(found.start + 1)}–${number(found.end)} of ${number(characters)}`;
  $("earlier").disabled = found.start === 0;
  $("later").disabled = found.end >= characters;
  const panels = $("panels");
  panels.className = `panels${$("ids").checked ? " with-ids" : ""}`;
  panels.dataset.count = found.panels.length;
  $("legend").hidden = found.panels.length < 2;
  const scrolled = [...panels.querySelectorAll(".tokens")].map((each) => each.scrollTop);
  panels.replaceChildren(...found.panels.map((panel) => drawPanel(panel, found, isPart)));
  [...panels.querySelectorAll(".tokens")].forEach((each, i) => { each.scrollTop = scrolled[i] ?? 0; });
  if (!found.panels.length) panels.append(element("p", { className: "card empty-state", textContent: "Add a tokenizer to see the text's tokens." }));
}

function drawPanel(panel, found, isPart) {
  const card = element("article", { className: "card panel" });
  card.dataset.key = panel.key;
  card.append(element("header", {}, element("h2", { textContent: panel.key }), element("span", { className: "soft", textContent: panel.kind ?? "" })));
  if (panel.error) {
    card.append(element("p", { className: "stats error", textContent: panel.error }));
    return card;
  }
  const stats = element("div", { className: "stats" },
    element("span", {}, element("span", { className: "count", textContent: number(panel.total) }), ` token${panel.total === 1 ? "" : "s"}`),
    element("span", { className: "figures", textContent: panel.total ? `${panel.ratio.toFixed(2)} bytes a token` : "" }));
  if (found.panels.length > 1) {
    stats.append(element("span", { className: "figures hint", title: "Tokens whose span another tokenizer cuts otherwise; they are underlined",
      textContent: `${number(panel.differing)} differ${isPart ? " here" : ""}` }));
  }
  const bar = element("i");
  bar.style.width = `${100 * panel.total / Math.max(1, ...found.panels.map((each) => each.total ?? 0))}%`;
  if (found.panels.length > 1) stats.append(element("div", { className: "amount", ariaHidden: "true" }, bar));
  const copy = element("button", { type: "button", className: "quiet small", textContent: "Copy ids", title: "Copy the ids that are shown as a list" });
  copy.addEventListener("click", () => navigator.clipboard.writeText(`[${panel.ids.join(", ")}]`).then(
    () => note(`${number(panel.ids.length)} ids are copied.`), () => note("The browser does not allow copying.")));
  const tokens = element("div", { className: "tokens", tabIndex: 0, innerHTML: panel.text });
  tokens.setAttribute("role", "group");
  tokens.setAttribute("aria-label", `Tokens of ${panel.key}: arrow keys move, Enter shows one's details`);
  const footer = element("footer", { role: "status", textContent: "Point at a token, or use the arrow keys." });
  card.append(stats, tokens, element("div", { className: "foot" }, footer, copy));
  watch(card, panel, tokens, footer);
  return card;
}

function watch(card, panel, tokens, footer) {
  const byPlace = [];
  tokens.querySelectorAll(".t").forEach((each) => { byPlace[each.dataset.i] = each; });
  let at = -1;
  card.light = (place, scroll) => {
    dim();
    at = place;
    const token = byPlace[place];
    if (!token) return;
    token.classList.add("lit");
    if (scroll) inView(token);
    footer.replaceChildren(`${number(panel.first + place + 1)} of ${number(panel.total)}: `,
      element("span", { className: "spelled", textContent: panel.spelled[place] }), `, id ${panel.ids[place]}`);
    touch(card, Number(token.dataset.s), Number(token.dataset.e));
  };
  card.touched = (from, to) => {
    for (const each of byPlace) {
      if (Number(each.dataset.s) < to && Number(each.dataset.e) > from) each.classList.add("touched");
    }
  };
  const pointed = (event) => {
    const hit = event.target.closest("[data-i]");
    if (hit) card.light(Number(hit.dataset.i), false);
  };
  tokens.addEventListener("pointerover", pointed);
  tokens.addEventListener("pointerleave", dim);
  tokens.addEventListener("click", (event) => {
    const hit = event.target.closest("[data-i]");
    if (hit) open(panel, Number(hit.dataset.i), byPlace[hit.dataset.i]);
  });
  tokens.addEventListener("keydown", (event) => {
    const last = byPlace.length - 1;
    const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: last }[event.key];
    if (to !== undefined) {
      card.light(Math.min(Math.max(to, 0), last), true);
      event.preventDefault();
    } else if ((event.key === "Enter" || event.key === " ") && at >= 0) {
      open(panel, at, byPlace[at]);
      event.preventDefault();
    }
  });
}

// Only the panel scrolls, never the page.
function inView(each) {
  const box = each.closest(".tokens"), place = each.getBoundingClientRect(), seen = box.getBoundingClientRect();
  if (place.top < seen.top || place.bottom > seen.bottom) box.scrollTop += place.top - seen.top - box.clientHeight / 3;
}

function dim() {
  for (const each of $("panels").querySelectorAll(".lit, .touched")) each.classList.remove("lit", "touched");
}

function touch(card, from, to) {
  for (const other of $("panels").children) if (other !== card) other.touched?.(from, to);
}

async function open(panel, place, token) {
  for (const each of $("panels").querySelectorAll(".picked")) each.classList.remove("picked");
  token.classList.add("picked");
  await showToken({
    tokenizer: panel.key, id: panel.ids[place], ...given(), start: shown.start, end: shown.end,
    special: $("special").checked ? "encode" : "text",
    at: Number(token.dataset.s), colour: panel.first + place,
  }, $("panels").querySelector(`[data-key="${CSS.escape(panel.key)}"] .tokens`));
  inView(token);
  keepClear(token);
}

const soon = later(120, refresh);
text.addEventListener("input", () => {
  if (text.value.length > LONGEST_IN_AREA) { keep(text.value, "Text"); return; }
  say("text-error");
  start = Math.min(start, text.value.length);
  soon();
});
text.addEventListener("paste", (event) => {
  const pasted = event.clipboardData.getData("text/plain"), { selectionStart, selectionEnd } = text;
  if (text.value.length + pasted.length <= LONGEST_IN_AREA) return;
  event.preventDefault();
  keep(text.value.slice(0, selectionStart) + pasted + text.value.slice(selectionEnd), "Pasted text");
});
text.addEventListener("drop", (event) => {
  if (!event.dataTransfer.files.length) return;
  event.preventDefault();
  openText(event.dataTransfer.files[0]);
});
$("open-text").addEventListener("click", () => $("text-file").click());
$("text-file").addEventListener("change", async () => {
  const [file] = $("text-file").files;
  if (file) await openText(file);
  $("text-file").value = "";
});
$("file-close").addEventListener("click", () => clear());
$("ids").addEventListener("change", () => { localStorage.setItem("ids", $("ids").checked ? "1" : "0"); $("panels").classList.toggle("with-ids", $("ids").checked); });
$("welcome-open").addEventListener("click", () => $("open").click());
$("welcome-close").addEventListener("click", () => { localStorage.setItem("welcomed", "1"); $("welcome").hidden = true; });
for (const id of ["special", "template"]) $(id).addEventListener("change", refresh);
$("add").addEventListener("change", (event) => {
  if (event.target.value === OPEN) { $("open").click(); event.target.value = ""; }
  else if (event.target.value) choose([...chosen, event.target.value]);
});
$("open").addEventListener("change", async () => {
  const [file] = $("open").files;
  if (!file) return;
  try {
    const { key } = await send(`/ask/open?name=${encodeURIComponent(file.name)}`, file);
    shelf = await ask("/ask/tokenizers");
    say("open-error");
    choose([...chosen, key].slice(-MOST));
  } catch (wrong) { say("open-error", wrong.message); }
  $("open").value = "";
});
$("example").addEventListener("change", (event) => {
  if (!event.target.value) return;
  showFile(null);
  text.value = EXAMPLES[event.target.value];
  event.target.value = "";
  start = 0;
  refresh();
});
function clear() {
  showFile(null);
  say("text-error");
  text.value = "";
  start = 0;
  text.focus();
  refresh();
}
$("clear").addEventListener("click", clear);
$("link").addEventListener("click", async () => {
  const isWhole = !kept && text.value.length <= LONGEST_IN_LINK;
  try {
    await navigator.clipboard.writeText(location.href);
    note(isWhole ? "The link is copied." : `The link is copied, without the text: it has more than ${number(LONGEST_IN_LINK)} characters.`);
  } catch { note("The address of this page is the link."); }
});
const move = (to) => { start = Math.max(0, to); refresh(); };
$("earlier").addEventListener("click", () => move(shown.start - (shown.end - shown.start)));
$("later").addEventListener("click", () => move(shown.end));
$("place").addEventListener("input", later(80, () => move(Number($("place").value))));

begin();
