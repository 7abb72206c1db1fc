// Choosing what to read: files below the folder, uploads, or a pasted text.
import { $, allRemembered, ask, element, later, number, remember, remembered, say, send } from "./common.js";

const files = new Map();
const wanted = allRemembered("file");

export async function beginChoosing() {
  $("pasted").value = sessionStorage.getItem("pasted") ?? "";
  $("form").elements.source.value = remembered("source") ?? "files";
  drawSource();
  await openFolder(remembered("folder") ?? "").catch(() => openFolder(""));
}

// Says below the field that nothing is chosen; returns whether there is something.
export function hasChosen() {
  const { files: names, text } = chosenText(), has = names.length > 0 || text !== "";
  const byText = $("form").elements.source.value === "text";
  say("choice-error", has ? "" : byText ? "Paste a text first." : "Choose a file first, or paste a text.");
  if (!has) (byText ? $("pasted") : $("entries").querySelector("input, button") ?? $("upload-label")).focus();
  return has;
}

// The choice, as requests to the server hold it.
export function chosenText() {
  const byText = $("form").elements.source.value === "text";
  return { files: byText ? [] : [...files.keys()], text: byText ? $("pasted").value : "" };
}

export function size(bytes) {
  return bytes < 1000 ? `${bytes} B` : bytes < 1e6 ? `${(bytes / 1e3).toFixed(1)} kB` : `${(bytes / 1e6).toFixed(1)} MB`;
}

async function openFolder(path) {
  const found = await ask("/ask/files", { path, chosen: wanted });
  for (const entry of found.chosen) files.set(entry.path, entry);
  wanted.length = 0;
  remember({ folder: found.path });
  const steps = found.path ? found.path.split("/") : [];
  const crumb = (name, to) => {
    const button = element("button", { type: "button", className: "crumb", textContent: name });
    button.addEventListener("click", () => openFolder(to).catch((wrong) => say("choice-error", wrong.message)));
    return button;
  };
  $("crumbs").replaceChildren(crumb(found.root, ""), ...steps.flatMap((name, i) => [" / ", crumb(name, steps.slice(0, i + 1).join("/"))]));
  $("entries").replaceChildren(...found.entries.map((entry) => {
    if (entry.size === null) {
      const button = element("button", { type: "button", className: "entry" }, element("span", { textContent: `${entry.name}/` }));
      button.addEventListener("click", () => openFolder(entry.path).catch((wrong) => say("choice-error", wrong.message)));
      return element("li", {}, button);
    }
    const box = element("input", { type: "checkbox", checked: files.has(entry.path), value: entry.path });
    box.addEventListener("change", () => {
      if (box.checked) files.set(entry.path, entry); else files.delete(entry.path);
      drawFiles();
    });
    return element("li", {}, element("label", { className: "entry" }, box, element("span", { className: "name", textContent: entry.name }), element("span", { className: "figures", textContent: size(entry.size) })));
  }));
  if (!found.entries.length) $("entries").append(element("li", { className: "soft entry", textContent: "No text files here." }));
  drawFiles();
}

function drawFiles() {
  remember({ file: [...files.keys()] });
  if (files.size) say("choice-error");
  const bytes = [...files.values()].reduce((sum, file) => sum + file.size, 0);
  $("picked").textContent = files.size ? `${number(files.size)} file${files.size === 1 ? "" : "s"}, ${size(bytes)}` : "No file is chosen.";
  $("chosen-files").replaceChildren(...[...files].map(([key, file]) => {
    const remove = element("button", { type: "button", textContent: "✕", ariaLabel: `Leave out ${file.name}` });
    remove.addEventListener("click", () => {
      files.delete(key);
      for (const box of $("entries").querySelectorAll("input")) if (box.value === key) box.checked = false;
      drawFiles();
    });
    return element("li", { className: "chip small-chip" }, element("span", { textContent: file.name, title: key }), remove);
  }));
}

function drawSource() {
  const byText = $("form").elements.source.value === "text";
  $("by-text").hidden = !byText;
  $("by-files").hidden = byText;
}
for (const radio of $("form").elements.source) radio.addEventListener("change", () => {
  drawSource();
  remember({ source: radio.value === "text" ? "text" : null });
  say("choice-error");
});
$("pasted").addEventListener("input", later(200, () => {
  say("choice-error");
  try { sessionStorage.setItem("pasted", $("pasted").value); } catch { sessionStorage.removeItem("pasted"); }
}));
$("upload-label").addEventListener("keydown", (event) => { if (event.key === "Enter" || event.key === " ") { $("upload").click(); event.preventDefault(); } });
$("upload").addEventListener("change", async () => {
  for (const file of $("upload").files) {
    try {
      const { key, size: bytes } = await send(`/ask/upload?name=${encodeURIComponent(file.name)}`, file);
      files.set(key, { name: file.name, size: bytes });
    } catch (wrong) { say("choice-error", wrong.message); }
  }
  $("upload").value = "";
  drawFiles();
});
