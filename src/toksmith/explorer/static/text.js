import { $, allRemembered, ask, element, later, note, number, remember, remembered, send } from "./common.js";
import { showToken } from "./details.js";

const MOST = 4, LONGEST_IN_LINK = 2000, OPEN = "\u0000open";
const EXAMPLES = {
  "English": "The quick brown fox jumps over the lazy dog. Tokenization isn't free: unbelievably long words cost more.",
  "Code": "def fib(n):\n    a, b = 0, 1\n    for _ in range(n):\n        a, b = b, a + b\n    return a  # 832040 == fib(30)\n",
  "Numbers": "127 + 677 = 804, 1275 + 6773 = 8041\n3.14159265358979 2026-11-21 0x7FFF 1,000,000",
  "한국어": "만나서 반가워요. 저는 토크나이저입니다.",
  "日本語 中文": "東京特許許可局。 人工智能正在改变世界。",
  "العربية": "مرحبا بالعالم! تقسيم النص إلى رموز.",
  "Emoji": "👋🏽 Hello 👩‍👩‍👧‍👦 family, 🇰🇷 flags & ❤️‍🔥!",
};
const text = $("text");
let shelf = [], chosen = [], start = 0, shown = null, isAsking = false, isStale = false;

async function begin() {
  shelf = await ask("/ask/tokenizers");
  const known = new Set(shelf.map((entry) => entry.key));
  chosen = allRemembered("t").filter((key) => known.has(key)).slice(0, MOST);
  if (!chosen.length) {
    const given = shelf.filter((entry) => entry.given);
    chosen = (given.length ? given : shelf).slice(0, given.length ? MOST : 1).map((entry) => entry.key);
  }
  text.value = remembered("text") ?? EXAMPLES.English;
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

// One request at a time: while the server works, only the newest text waits to be sent.
async function refresh() {
  remember({ t: chosen, text: text.value.length <= LONGEST_IN_LINK ? text.value : null,
    start: start || null, special: $("special").checked, template: $("template").checked });
  if (isAsking) { isStale = true; return; }
  isAsking = true;
  $("panels").setAttribute("aria-busy", "true");
  do {
    isStale = false;
    try {
      const found = await ask("/ask/tokens", {
        text: text.value, tokenizers: chosen, start,
        special: $("special").checked ? "encode" : "text", template: $("template").checked,
      });
      if (!isStale) draw(found);
    } catch (wrong) {
      note(wrong.message || "The explorer has ended.");
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
  panels.className = `panels${found.panels.length === 1 ? " one" : ""}`;
  panels.dataset.count = found.panels.length;
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
  const tokens = element("div", { className: "tokens", tabIndex: 0, innerHTML: panel.text });
  tokens.setAttribute("role", "group");
  tokens.setAttribute("aria-label", `Tokens of ${panel.key}: arrow keys move, Enter shows one's details`);
  const ids = element("div", { className: "ids", innerHTML: panel.ids });
  ids.setAttribute("role", "group");
  ids.setAttribute("aria-label", `Ids of ${panel.key}`);
  const footer = element("footer", { role: "status", textContent: "Point at a token, or use the arrow keys." });
  card.append(stats, element("div", { className: "body" }, tokens, ids), footer);
  watch(card, panel, tokens, ids, footer);
  return card;
}

function watch(card, panel, tokens, ids, footer) {
  const byPlace = { t: [], id: [] };
  tokens.querySelectorAll(".t").forEach((each) => { byPlace.t[each.dataset.i] = each; });
  ids.querySelectorAll(".id").forEach((each) => { byPlace.id[each.dataset.i] = each; });
  let at = -1;
  card.light = (place, scroll) => {
    dim();
    at = place;
    const token = byPlace.t[place], id = byPlace.id[place];
    if (!token) return;
    token.classList.add("lit");
    id.classList.add("lit");
    if (scroll) for (const each of [token, id]) inView(each);
    footer.replaceChildren(`${number(panel.first + place + 1)} of ${number(panel.total)}: `,
      element("span", { className: "spelled", textContent: id.title }), `, id ${panel.values[place]}`);
    touch(card, Number(token.dataset.s), Number(token.dataset.e));
  };
  card.touched = (from, to) => {
    for (const each of byPlace.t) {
      const s = Number(each.dataset.s), e = Number(each.dataset.e);
      if (s < to && e > from) {
        each.classList.add("touched");
        byPlace.id[each.dataset.i].classList.add("touched");
      }
    }
  };
  const pointed = (event) => {
    const hit = event.target.closest("[data-i]");
    if (hit) card.light(Number(hit.dataset.i), false);
  };
  for (const side of [tokens, ids]) {
    side.addEventListener("pointerover", pointed);
    side.addEventListener("pointerleave", dim);
    side.addEventListener("click", (event) => {
      const hit = event.target.closest("[data-i]");
      if (hit) open(panel, Number(hit.dataset.i), byPlace);
    });
  }
  tokens.addEventListener("keydown", (event) => {
    const last = byPlace.t.length - 1;
    const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: last }[event.key];
    if (to !== undefined) {
      card.light(Math.min(Math.max(to, 0), last), true);
      event.preventDefault();
    } else if ((event.key === "Enter" || event.key === " ") && at >= 0) {
      open(panel, at, byPlace);
      event.preventDefault();
    }
  });
}

// Only the panel scrolls, never the page.
function inView(each) {
  const box = each.parentElement, top = each.offsetTop - box.offsetTop;
  if (top < box.scrollTop || top + each.offsetHeight > box.scrollTop + box.clientHeight) box.scrollTop = top - box.clientHeight / 3;
}

function dim() {
  for (const each of $("panels").querySelectorAll(".lit, .touched")) each.classList.remove("lit", "touched");
}

function touch(card, from, to) {
  for (const other of $("panels").children) if (other !== card) other.touched?.(from, to);
}

function open(panel, place, byPlace) {
  for (const each of $("panels").querySelectorAll(".picked")) each.classList.remove("picked");
  byPlace.t[place].classList.add("picked");
  byPlace.id[place].classList.add("picked");
  showToken({
    tokenizer: panel.key, id: panel.values[place], text: text.value, start: shown.start, end: shown.end,
    special: $("special").checked ? "encode" : "text",
    at: Number(byPlace.t[place].dataset.s), colour: panel.first + place,
  }, $("panels").querySelector(`[data-key="${CSS.escape(panel.key)}"] .tokens`));
}

const soon = later(120, refresh);
text.addEventListener("input", () => { start = Math.min(start, text.value.length); soon(); });
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
    choose([...chosen, key]);
  } catch (wrong) { note(wrong.message); }
  $("open").value = "";
});
$("example").addEventListener("change", (event) => {
  if (!event.target.value) return;
  text.value = EXAMPLES[event.target.value];
  event.target.value = "";
  start = 0;
  refresh();
});
$("clear").addEventListener("click", () => { text.value = ""; start = 0; text.focus(); refresh(); });
$("link").addEventListener("click", async () => {
  const isWhole = text.value.length <= LONGEST_IN_LINK;
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
