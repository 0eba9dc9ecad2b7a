"use strict";
const data = JSON.parse(document.getElementById("data").textContent);

function element(tag, className, text) {
  const made = document.createElement(tag);
  if (className) made.className = className;
  if (text !== undefined) made.textContent = text;
  return made;
}

function nearest(places, x) {
  let low = 0, high = places.length - 1;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (places[middle] < x) low = middle + 1; else high = middle;
  }
  return low > 0 && x - places[low - 1] < places[low] - x ? low - 1 : low;
}

function enliven(figure) {
  const hover = data.plots[Number(figure.dataset.plot)];
  const svg = figure.querySelector("svg"), tip = figure.querySelector(".tip"), cursor = figure.querySelector(".cursor");
  const colours = Array.from(figure.querySelectorAll(".swatch"), (swatch) => swatch.className);
  let place = hover.x.length - 1;
  function show(index) {
    place = Math.max(0, Math.min(index, hover.x.length - 1));
    const width = svg.viewBox.baseVal.width, at = hover.at[place];
    cursor.setAttribute("x1", at);
    cursor.setAttribute("x2", at);
    cursor.classList.add("on");
    tip.replaceChildren(element("p", "", figure.querySelector(".axis").textContent + " " + hover.x[place].toLocaleString("en")));
    hover.lines.forEach((line, number) => {
      if (line.values[place] === null) return;
      const row = element("p");
      row.append(element("i", colours[number]), line.label + " ", element("b", "", line.values[place]));
      tip.append(row);
    });
    tip.hidden = false;
    const left = at / width < 0.5;
    tip.style.left = left ? (at / width) * 100 + 3 + "%" : "auto";
    tip.style.right = left ? "auto" : (1 - at / width) * 100 + 3 + "%";
  }
  function hide() {
    tip.hidden = true;
    cursor.classList.remove("on");
  }
  function point(event) {
    const box = svg.getBoundingClientRect();
    show(nearest(hover.at, ((event.clientX - box.left) / box.width) * svg.viewBox.baseVal.width));
  }
  svg.addEventListener("pointermove", point);
  svg.addEventListener("pointerdown", point);
  svg.addEventListener("pointerleave", (event) => { if (event.pointerType === "mouse") hide(); });
  svg.addEventListener("blur", hide);
  svg.addEventListener("focus", () => show(place));
  svg.addEventListener("keydown", (event) => {
    const move = { ArrowLeft: -1, ArrowRight: 1, Home: -Infinity, End: Infinity }[event.key];
    if (move === undefined) return;
    event.preventDefault();
    show(place + move);
  });
}
document.querySelectorAll("figure[data-plot]").forEach(enliven);

function shade(logprob) {
  const limits = [Math.log(0.9), Math.log(0.5), Math.log(0.1), Math.log(0.01)];
  return "p" + limits.filter((limit) => logprob < limit).length;
}

function token(piece, detail) {
  const [text, logprob, trained] = piece;
  const made = element("span", "tok", text);
  if (logprob === undefined || (logprob === null && trained)) return made;
  const words = [];
  if (logprob !== null) {
    if (trained) made.classList.add(shade(logprob));
    words.push("probability " + Number(Math.exp(logprob).toPrecision(3)), "logprob " + Number(logprob.toPrecision(4)));
  }
  if (!trained) {
    made.classList.add("off");
    words.push("not trained on");
  }
  made.dataset.lp = "";
  made.title = words.join(", ");
  const tell = () => {
    document.querySelectorAll(".chosen").forEach((one) => one.classList.remove("chosen"));
    made.classList.add("chosen");
    detail.textContent = JSON.stringify(text) + ": " + words.join(", ");
  };
  made.addEventListener("click", tell);
  return made;
}

function walk(event) {
  const move = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
  const tokens = Array.from(event.currentTarget.querySelectorAll("[data-lp]"));
  if (move === undefined || !tokens.length) return;
  event.preventDefault();
  const now = tokens.findIndex((one) => one.classList.contains("chosen"));
  const next = tokens[Math.max(0, Math.min(now + move, tokens.length - 1))];
  next.click();
  next.scrollIntoView({ block: "nearest" });
}

function showSample(sample) {
  const place = document.getElementById("sample");
  const about = element("div", "about"), detail = element("p", "detail");
  const rows = sample.reward === null ? sample.about : [["reward", Number(sample.reward.toPrecision(4))], ...sample.about];
  rows.forEach(([label, value]) => {
    const row = element("div");
    row.append(element("span", "", label + " "), String(value));
    about.append(row);
  });
  place.replaceChildren(about, ...sample.notes.map((note) => element("p", "note", note)));
  for (const part of ["prompt", "response"]) {
    const text = element("div", "text");
    text.append(...sample[part].map((piece) => token(piece, detail)));
    text.tabIndex = 0;
    text.setAttribute("aria-label", part);
    text.addEventListener("keydown", walk);
    place.append(element("p", "part", part), text);
  }
  place.append(detail);
}

function showStep(step) {
  const pick = document.getElementById("pick");
  pick.replaceChildren();
  step.samples.forEach((sample, number) => {
    const verdict = { 0: " ✗", 1: " ✓" }[sample.reward] || "";
    const button = element("button", "", number + 1 + verdict);
    button.type = "button";
    if (sample.reward !== null) {
      button.title = "reward " + sample.reward;
      button.dataset.reward = sample.reward;
    }
    button.addEventListener("click", () => {
      pick.querySelectorAll("button").forEach((one) => one.setAttribute("aria-pressed", String(one === button)));
      showSample(sample);
    });
    pick.append(button);
  });
  if (step.samples.length) pick.firstChild.click();
}

const chooser = document.getElementById("step");
if (chooser) {
  data.samples.forEach((step, number) => {
    const option = element("option", "", (step.kind === "eval" ? "evaluation at rollout " : "rollout ") + step.step);
    option.value = String(number);
    chooser.append(option);
  });
  chooser.addEventListener("change", () => showStep(data.samples[Number(chooser.value)]));
  showStep(data.samples[0]);
}
