// Shared by all pages: requests to the server, notes, the theme, a token's details.
export const $ = (id) => document.getElementById(id);

export function element(tag, properties = {}, ...children) {
  const made = Object.assign(document.createElement(tag), properties);
  made.append(...children);
  return made;
}

export async function ask(address, fields) {
  const options = fields === undefined ? {} : {
    method: "POST",
    headers: { "content-type": "application/json", "x-toksmith": "1" },
    body: JSON.stringify(fields),
  };
  return answer(await fetch(address, options));
}

export async function send(address, file) {
  return answer(await fetch(address, { method: "POST", headers: { "x-toksmith": "1" }, body: file }));
}

async function answer(response) {
  const type = response.headers.get("content-type") || "";
  const found = type.startsWith("application/json") ? await response.json() : { error: await response.text() };
  if (!response.ok) throw new Error(found.error);
  return found;
}

// Puts a message below the field that it is about; nothing takes it away.
export function say(id, message = "") {
  $(id).textContent = message;
}

let hiding;
export function note(text) {
  $("note").textContent = text;
  $("note").classList.add("on");
  clearTimeout(hiding);
  hiding = setTimeout(() => $("note").classList.remove("on"), 3500);
}

export function later(milliseconds, work) {
  let waiting;
  return (...given) => {
    clearTimeout(waiting);
    waiting = setTimeout(() => work(...given), milliseconds);
  };
}

export const number = (value) => value.toLocaleString("en-US");

// The address carries the state: given fields replace its own, null removes one.
export function remember(fields) {
  const query = new URLSearchParams(location.search);
  for (const [name, value] of Object.entries(fields)) {
    query.delete(name);
    for (const each of Array.isArray(value) ? value : [value]) {
      if (each !== null && each !== "" && each !== false) query.append(name, each === true ? "1" : each);
    }
  }
  const search = query.toString();
  history.replaceState(null, "", location.pathname + (search ? `?${search}` : ""));
}

export const remembered = (name) => new URLSearchParams(location.search).get(name);
export const allRemembered = (name) => new URLSearchParams(location.search).getAll(name);

$("theme").addEventListener("click", () => {
  localStorage.setItem("theme", document.documentElement.dataset.theme === "dark" ? "light" : "dark");
  remember({ theme: null });
  applyTheme();
});

// A list of keys on "?", unless somebody writes.
const isWriting = (target) => target.matches("input:not([type=checkbox], [type=radio], [type=range]), textarea, select, [contenteditable]");
document.addEventListener("keydown", (event) => {
  if (event.key !== "?" || event.ctrlKey || event.metaKey || event.altKey || isWriting(event.target)) return;
  event.preventDefault();
  if (!$("keys").open) $("keys").showModal();
});
$("show-keys").addEventListener("click", () => $("keys").showModal());

for (const link of document.querySelectorAll(".top nav a")) {
  link.addEventListener("click", () => {
    // The tokenizers go along from page to page.
    const chosen = allRemembered("t").map((key) => ["t", key]);
    const query = new URLSearchParams(chosen).toString();
    link.search = query;
  });
}
