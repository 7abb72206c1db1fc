// A long job: polled until it ends, with its progress.
import { $, ask, element, note } from "./common.js";

const EVERY = 250;
let newest = 0;

// titles: the name of each state; stage: the work of a running job; draw: the rest of the page.
export async function follow(address, fields, { titles, stage, draw }) {
  const mine = ++newest;
  let found;
  try { found = await ask(address, fields()); } catch (wrong) { note(wrong.message || "The explorer has ended."); return; }
  if (mine !== newest) return;  // another job was started since
  const isRunning = found.state === "running";
  $("idle").hidden = found.state !== "none";
  $("running").hidden = found.state === "none";
  $("start").disabled = isRunning;
  $("cancel").hidden = $("bar").hidden = !isRunning;
  $("keep").hidden = found.state !== "done";
  if (found.state === "none") return;
  $("status").textContent = titles(found)[found.state];
  $("status").className = found.state === "failed" ? "error" : "";
  if (found.total) { $("bar").max = found.total; $("bar").value = found.done; } else $("bar").removeAttribute("value");
  $("stage").textContent = found.state === "failed" ? found.error : isRunning ? stage(found) || "Starting" : "";
  $("warnings").replaceChildren(...found.warnings.map((warning) => element("li", { textContent: warning })));
  draw(found);
  if (isRunning) setTimeout(follow, EVERY, address, fields, { titles, stage, draw });
}

$("cancel").addEventListener("click", () => ask("/ask/cancel", {}).catch((wrong) => note(wrong.message)));
