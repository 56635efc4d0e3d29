// Everything from the ledger becomes text: elements are made one by one, never from markup.

const report = JSON.parse(document.getElementById("report-data").textContent);
const SVG = "http://www.w3.org/2000/svg";

// el("p", {class: "note"}, "words", element, null): null and "" are left out.
function el(tag, attributes, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value !== null && value !== undefined && value !== false)
      element.setAttribute(name, value === true ? "" : String(value));
  }
  for (const child of children.flat()) {
    if (child === null || child === undefined || child === "") continue;
    element.append(child instanceof Node ? child : document.createTextNode(String(child)));
  }
  return element;
}

function button(words, attributes, press) {
  const made = el("button", {type: "button", ...attributes}, words);
  made.addEventListener("click", press);
  return made;
}

function svg(tag, attributes) {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, String(value));
  return element;
}

// Places from the steps between them; null stands for every place.
function placesOf(steps, count) {
  if (steps === null) return Array.from({length: count}, (_, i) => i);
  let place = 0;
  return steps.map((step) => (place += step));
}

// JSON text broken into lines, every character of it kept: a number is not read, so it cannot
// change.
function indented(text, depth) {
  let out = "", inside = false;
  const line = () => "\n" +
      "  ".repeat(depth);
  for (let i = 0; i < text.length; i += 1) {
    const c = text[i];
    if (inside) {
      out += c === "\\" ? c + text[++i] : c;
      inside = c !== '"';
    } else if ((c === "{" || c === "[") && (text[i + 1] === "}" || text[i + 1] === "]")) {
      out += c + text[++i];
    } else if (c === "{" || c === "[") {
      depth += 1;
      out += c + line();
    } else if (c === "}" || c === "]") {
      depth -= 1;
      out += line() + c;
    } else {
      inside = c === '"';
      out += c === "," ? c + line() : c === ":" ? ": " : c;
    }
  }
  return out;
}

function plural(count, word) {
  return count === 1 ? `1 ${word}` : `${count.toLocaleString("en")} ${word}s`;
}

// "12", "3, 4 and 9"; "lines 3, 4, 9, 11, 12 … (40)" where there are many.
function lineWords(places) {
  const lines = places.map((place) => report.records[place].line);
  const words =
      lines.length > 6 ? `${lines.slice(0, 5).join(", ")} … (${lines.length})` : lines.join(", ");
  return lines.length ? `ledger line${lines.length === 1 ? "" : "s"} ${words}` : "no ledger line";
}
