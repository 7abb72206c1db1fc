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
  fit();
  const stepper = $("details-body").querySelector(".ts-steps");
  if (from) (stepper ?? $("details-close")).focus({ preventScroll: true });
}

// Scales a diagram down to the width of the details, and brings the chosen token into view.
const SMALLEST = .55;
function fit() {
  const box = $("details-body").querySelector(".origin .ts-diagram");
  if (!box) return;
  const drawing = box.querySelector(".ts-tree, .ts-grid");
  drawing.style.zoom = 1;
  const { paddingLeft, paddingRight } = getComputedStyle(box);
  const room = box.clientWidth - parseFloat(paddingLeft) - parseFloat(paddingRight);
  drawing.style.zoom = Math.max(SMALLEST, Math.min(1, room / drawing.offsetWidth));
  const tokens = [...drawing.querySelectorAll(".ts-fill")];
  const token = tokens[Number($("details-body").querySelector(".origin").dataset.chosen)];
  if (!token) return;
  token.classList.add("ts-chosen");
  const place = token.getBoundingClientRect(), seen = box.getBoundingClientRect();
  if (place.left < seen.left || place.right > seen.right) box.scrollLeft += (place.left + place.right - seen.left - seen.right) / 2;
}
addEventListener("resize", () => { if (!$("details").hidden) fit(); });

// Moves the page so that a sheet below, as on a phone, does not cover what it is about.
export function keepClear(element) {
  const sheet = $("details").getBoundingClientRect(), place = element.getBoundingClientRect();
  if ($("details").hidden || sheet.left > place.right) return;
  const top = document.querySelector(".top").getBoundingClientRect().bottom;
  if (place.bottom > sheet.top || place.top < top) scrollBy(0, (place.top + place.bottom - top - sheet.top) / 2);
}

export function hideToken() {
  if ($("details").hidden) return;
  $("details").hidden = true;
  document.body.classList.remove("with-details");
  cameFrom?.focus({ preventScroll: true });
}

$("details-close").addEventListener("click", hideToken);
document.addEventListener("keydown", (event) => { if (event.key === "Escape" && !$("keys").open) hideToken(); });
$("details").addEventListener("click", (event) => {
  const other = event.target.closest("[data-token]");
  if (other) showToken({ tokenizer, id: Number(other.dataset.token) });
});
