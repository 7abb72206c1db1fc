// Runs before the page is drawn, so that it never flashes in the other colours.
// Diagrams know the scheme by a class, so one is always set.
const prefersDark = matchMedia("(prefers-color-scheme: dark)");
function applyTheme() {
  const kept = new URLSearchParams(location.search).get("theme") || localStorage.getItem("theme");
  const theme = kept === "dark" || kept === "light" ? kept : prefersDark.matches ? "dark" : "light";
  document.documentElement.dataset.theme = theme;
  document.documentElement.className = `body--${theme}`;
}
applyTheme();
prefersDark.addEventListener("change", applyTheme);
