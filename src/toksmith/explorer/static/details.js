// A token's details at the side of the page; stepper.js steps through its merges.
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
  startSteppers($("details-body"));
  const stepper = $("details-body").querySelector(".ts-steps");
  if (from) (stepper ?? $("details-close")).focus({ preventScroll: true });
}

export function hideToken() {
  if ($("details").hidden) return;
  $("details").hidden = true;
  document.body.classList.remove("with-details");
  cameFrom?.focus({ preventScroll: true });
}

$("details-close").addEventListener("click", hideToken);
document.addEventListener("keydown", (event) => { if (event.key === "Escape") hideToken(); });
$("details").addEventListener("click", (event) => {
  const other = event.target.closest("[data-token]");
  if (other) showToken({ tokenizer, id: Number(other.dataset.token) });
});
