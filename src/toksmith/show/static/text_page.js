// Lets the merges of all trees be stepped through; a click on a token opens its diagram.
startSteppers(document);
document.addEventListener("click", (event) => {
  const link = event.target.closest("a.t");
  if (link) document.querySelector(link.getAttribute("href")).open = true;
});
