// Steps through the merges of each tree below an element, by buttons and by arrow keys.
function startSteppers(root) {
  const moves = { first: () => 0, back: (at) => at - 1, on: (at) => at + 1, last: (at, last) => last };
  const keys = { ArrowLeft: "back", ArrowRight: "on", Home: "first", End: "last" };
  for (const figure of root.querySelectorAll(".ts-figure")) {
    const bar = figure.querySelector(".ts-steps");
    const buttons = [...bar.querySelectorAll("[data-go]")];
    const lines = figure.querySelectorAll("ol > li");
    const last = lines.length - 1;
    let at = last;
    const show = (moved) => {
      for (const node of figure.querySelectorAll(".ts-node")) {
        const step = Number(node.dataset.step), above = node.parentElement.closest(".ts-node");
        node.classList.toggle("ts-later", step > at);
        node.classList.toggle("ts-used", above !== null && Number(above.dataset.step) <= at);
        node.classList.toggle("ts-now", moved && step === at && at > 0);
      }
      figure.querySelector("output").replaceChildren(...lines[at].cloneNode(true).childNodes);
      for (const button of buttons) {
        button.disabled = at === (["first", "back"].includes(button.dataset.go) ? 0 : last);
      }
      figure.dataset.at = at;
    };
    const go = (how) => {
      const focused = document.activeElement;  // before it is disabled, which may end that
      at = Math.max(0, Math.min(last, moves[how](at, last)));
      show(true);
      // A button that can go no further would take the keys with it.
      if (figure.contains(focused) && focused.disabled) bar.focus();
    };
    for (const button of buttons) {
      button.addEventListener("click", () => { button.focus(); go(button.dataset.go); });
    }
    figure.addEventListener("keydown", (event) => {
      if (!keys[event.key]) return;
      go(keys[event.key]);
      event.preventDefault();
    });
    bar.hidden = false;
    show(false);
  }
}
