// Light and dark: the page's colours are CSS variables; figures name theirs "@ink" and so on and
// are drawn again.

const root = document.documentElement;
const prefersDark = window.matchMedia("(prefers-color-scheme: dark)");
const themeListeners = [];

function themeColour(name) {
  return getComputedStyle(root).getPropertyValue("--" + name).trim();
}

// A copy of a figure in which every colour called "@name" is that of the theme.
function themed(value, colours, isColour) {
  if (typeof value === "string") {
    if (!isColour || value[0] !== "@") return value;
    const name = value.slice(1);
    if (!(name in colours)) colours[name] = themeColour(name);
    return colours[name];
  }
  if (Array.isArray(value)) return value.map((part) => themed(part, colours, isColour));
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(Object.entries(value).map(
      ([key, part]) => [key, themed(part, colours, /color$/i.test(key))]));
}

function setTheme(name) {
  if (name === "auto")
    delete root.dataset.theme;
  else
    root.dataset.theme = name;
  themeListeners.forEach((redraw) => redraw());
}

function themeSwitch() {
  const box = el("div", {class: "segments", role: "group", "aria-label": "Colours"});
  for (const [name, words] of [["auto", "Auto"], ["light", "Light"], ["dark", "Dark"]]) {
    box.append(button(
        words, {"aria-pressed": String(name === "auto"), "data-theme-name": name}, (event) => {
          for (const other of box.children)
            other.setAttribute("aria-pressed", String(other === event.currentTarget));
          setTheme(name);
        }));
  }
  return box;
}

prefersDark.addEventListener("change", () => {
  if (!root.dataset.theme) themeListeners.forEach((redraw) => redraw());
});

// Paper is white and as wide as paper, whatever the screen is; every figure is drawn, also those
// never scrolled to.
window.addEventListener("beforeprint", () => {
  root.classList.add("printing");
  themeListeners.forEach((redraw) => redraw(true));
});
window.addEventListener("afterprint", () => {
  root.classList.remove("printing");
  themeListeners.forEach((redraw) => redraw());
});
