// The list holds only the rows that can be seen; pages of rows are fetched as they come into view.
import { $, ask, element, later, note, number, remember, remembered } from "./common.js";
import { keepClear, showToken } from "./details.js";

const HEIGHT = 34, PAGE = 200, TALLEST = 8_000_000;
const HINTS = { text: "Search the tokens, such as  ing", regex: "Such as ^ ?\\p{Lu}+$", bytes: "In hex, such as e2 82", id: "An id, or a range: 100-200" };
const scroller = $("scroller"), spacer = $("spacer");
let found = 0, pages = new Map(), active = -1, round = 0;

const fields = () => ({ tokenizer: $("tokenizer").value, query: $("query").value, how: $("how").value, kind: $("kind").value, sort: $("sort").value });

async function begin() {
  const shelf = await ask("/ask/tokenizers");
  $("tokenizer").append(...shelf.map((entry) => new Option(entry.name, entry.key)));
  const wanted = remembered("t");
  if (shelf.some((entry) => entry.key === wanted)) $("tokenizer").value = wanted;
  for (const name of ["how", "kind", "sort"]) {
    const kept = remembered(name);
    if ([...$(name).options].some((option) => option.value === kept)) $(name).value = kept;
  }
  $("query").value = remembered("q") ?? "";
  await search();
  const token = remembered("token");
  if (token === null || !/^\d+$/.test(token)) return;
  const { query, kind, sort } = fields();
  if (!query && kind === "all" && sort === "id") activate(Number(token));  // its place is its id
  showToken({ tokenizer: $("tokenizer").value, id: Number(token) });
}

async function search() {
  const mine = ++round;
  const asked = fields();
  $("query").placeholder = HINTS[asked.how];
  const shown = remembered("t") === asked.tokenizer ? {} : { token: null };
  remember({ t: asked.tokenizer, q: asked.query, how: asked.how === "text" ? null : asked.how,
    kind: asked.kind === "all" ? null : asked.kind, sort: asked.sort === "id" ? null : asked.sort, ...shown });
  try {
    const answer = await ask("/ask/vocabulary", { ...asked, from: 0, rows: PAGE });
    if (mine !== round) return;
    pages = new Map([[0, answer]]);
    found = answer.found;
    $("query").removeAttribute("aria-invalid");
    $("found").className = "figures";
    $("found").replaceChildren(element("b", { textContent: number(found) }), found === answer.total ? " tokens" : ` of ${number(answer.total)} tokens`, ` · ${answer.kind}`);
  } catch (wrong) {
    if (mine !== round) return;
    pages = new Map([[0, { from: 0 }]]);
    found = 0;
    $("query").setAttribute("aria-invalid", "true");
    $("found").className = "error";
    $("found").textContent = wrong.message;
  }
  $("found").dataset.round = mine;
  active = -1;
  scroller.scrollTop = 0;
  spacer.style.height = `${Math.min(found * HEIGHT, TALLEST)}px`;
  draw();
}

// Beyond the height that browsers draw, the scroll bar is scaled.
const factor = () => Math.max(1, (found * HEIGHT - scroller.clientHeight) / Math.max(1, TALLEST - scroller.clientHeight));
const firstSeen = () => Math.floor(scroller.scrollTop * (found * HEIGHT > TALLEST ? factor() : 1) / HEIGHT);

function draw() {
  const first = Math.max(0, firstSeen() - 4), count = Math.ceil(scroller.clientHeight / HEIGHT) + 8;
  const offset = found * HEIGHT > TALLEST ? scroller.scrollTop - (firstSeen() - first) * HEIGHT : first * HEIGHT;
  const rows = [];
  for (let place = first; place < Math.min(first + count, found); place++) {
    const page = pages.get(Math.floor(place / PAGE) * PAGE);
    if (!page) fetchPage(Math.floor(place / PAGE) * PAGE);
    const row = element("div", { className: "row", id: `row-${place}`, innerHTML: page?.rows?.[place - page.from] ?? "" });
    row.setAttribute("role", "option");
    row.setAttribute("aria-setsize", found);
    row.setAttribute("aria-posinset", place + 1);
    row.setAttribute("aria-selected", place === active);
    row.dataset.place = place;
    row.style.top = `${offset + (place - first) * HEIGHT}px`;
    rows.push(row);
  }
  spacer.replaceChildren(...rows);
  if (!found && pages.size) spacer.append(element("p", { className: "empty-state", textContent: "No token fits." }));
}

async function fetchPage(from) {
  const mine = round;
  pages.set(from, { from });
  try {
    const answer = await ask("/ask/vocabulary", { ...fields(), from, rows: PAGE });
    if (mine !== round) return;
    pages.set(from, answer);
    draw();
  } catch (wrong) {
    pages.delete(from);
    note(wrong.message);
  }
}

function open(place, focus) {
  const page = pages.get(Math.floor(place / PAGE) * PAGE);
  const id = page?.ids?.[place - page.from];
  if (id === undefined) return;
  remember({ token: String(id) });
  showToken({ tokenizer: $("tokenizer").value, id, colour: id }, focus ? scroller : undefined).then(() => {
    const row = $(`row-${place}`);
    if (row) keepClear(row);
  });
}

function activate(place) {
  if (!found) return;
  active = Math.min(Math.max(place, 0), found - 1);
  const seen = firstSeen(), many = Math.floor(scroller.clientHeight / HEIGHT);
  if (active < seen || active >= seen + many) {
    const first = active < seen ? active : active - many + 1;
    scroller.scrollTop = first * HEIGHT / (found * HEIGHT > TALLEST ? factor() : 1);
  }
  scroller.setAttribute("aria-activedescendant", `row-${active}`);
  draw();
}

let drawing = false;
scroller.addEventListener("scroll", () => {
  if (drawing) return;
  drawing = true;
  requestAnimationFrame(() => { drawing = false; draw(); });
});
new ResizeObserver(draw).observe(scroller);
scroller.addEventListener("click", (event) => {
  const row = event.target.closest(".row");
  if (!row) return;
  activate(Number(row.dataset.place));
  open(active, true);
});
scroller.addEventListener("keydown", (event) => {
  const many = Math.floor(scroller.clientHeight / HEIGHT);
  const to = { ArrowDown: active + 1, ArrowUp: active - 1, PageDown: active + many, PageUp: active - many, Home: 0, End: found - 1 }[event.key];
  if (to !== undefined) { activate(to); event.preventDefault(); }
  if ((event.key === "Enter" || event.key === " ") && active >= 0) { open(active, true); event.preventDefault(); }
});
$("query").addEventListener("input", later(150, search));
for (const id of ["tokenizer", "how", "kind", "sort"]) $(id).addEventListener("change", search);
begin();
