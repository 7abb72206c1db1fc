// A token's details at the side of the page, and stepping through its merges.
import { $, ask, note } from "./common.js";

let cameFrom = null, tokenizer = "";

export async function showToken(fields, from) {
  tokenizer = fields.tokenizer;
  cameFrom = from ?? cameFrom;
  let found;
  try {
    found = await ask("/ask/token", fields);
  } catch (wrong) {
    note(wrong.message);
    return;
  }
  $("details-title").textContent = found.title;
  $("details-body").innerHTML = found.html;
  $("details").hidden = false;
  $("details").scrollTop = 0;
  document.body.classList.add("with-details");
  $("details-body").querySelectorAll(".stepper").forEach(startStepper);
  const stepper = $("details-body").querySelector(".stepper");
  if (from) (stepper ?? $("details-close")).focus({ preventScroll: true });
}

export function hideToken() {
  if ($("details").hidden) return;
  $("details").hidden = true;
  document.body.classList.remove("with-details");
  cameFrom?.focus({ preventScroll: true });
}

function startStepper(stepper) {
  const last = Number(stepper.dataset.steps);
  const nodes = [...stepper.parentElement.querySelectorAll(".ts-node")];
  const lines = [...stepper.querySelectorAll("li")];
  const buttons = Object.fromEntries([...stepper.querySelectorAll("[data-go]")].map((each) => [each.dataset.go, each]));
  let at = last;
  const go = (to) => {
    at = Math.min(Math.max(to, 0), last);
    lines.forEach((line) => { line.hidden = Number(line.dataset.step) !== at; });
    for (const node of nodes) {
      const made = Number(node.dataset.step);
      const above = node.parentElement.closest(".ts-node");
      node.classList.toggle("ts-later", made > at);
      node.classList.toggle("ts-now", made === at && made > 0);
      node.classList.toggle("ts-used", Boolean(above) && Number(above.dataset.step) <= at);
    }
    buttons.first.disabled = buttons.back.disabled = at === 0;
    buttons.on.disabled = buttons.last.disabled = at === last;
    stepper.dataset.at = at;
  };
  const moves = { first: () => go(0), back: () => go(at - 1), on: () => go(at + 1), last: () => go(last) };
  for (const [name, button] of Object.entries(buttons)) {
    button.addEventListener("click", () => { moves[name](); if (button.disabled) stepper.focus(); });
  }
  stepper.addEventListener("keydown", (event) => {
    const name = { ArrowLeft: "back", ArrowRight: "on", Home: "first", End: "last" }[event.key];
    if (!name) return;
    moves[name]();
    event.preventDefault();
  });
  go(last);
}

$("details-close").addEventListener("click", hideToken);
document.addEventListener("keydown", (event) => { if (event.key === "Escape") hideToken(); });
$("details").addEventListener("click", (event) => {
  const other = event.target.closest("[data-token]");
  if (other) showToken({ tokenizer, id: Number(other.dataset.token) });
});
