// What the page does more with a script: times in the browser's zone, answers as they come. Every view reads without it.

const csrf = document.body.dataset.csrf;
const live = document.getElementById("live");

function say(text) {
  if (live.textContent !== text) live.textContent = text;
}

// Times in the browser's zone; where a board's clock says something else, that stands beside it.
function showTimes(root) {
  const language = document.documentElement.lang;
  const form = new Intl.DateTimeFormat(language, { dateStyle: "medium", timeStyle: "short" });
  const clock = new Intl.DateTimeFormat(language, { timeStyle: "short", timeZone: "UTC" });
  const calendar = new Intl.DateTimeFormat(language, { dateStyle: "medium", timeStyle: "short", timeZone: "UTC" });
  for (const time of root.querySelectorAll("time[datetime]")) {
    const at = new Date(time.dateTime);
    if (Number.isNaN(at.getTime())) continue;
    time.textContent = form.format(at);
    const zone = Number(time.dataset.zone ?? NaN);
    if (Number.isNaN(zone) || zone === -at.getTimezoneOffset()) continue;
    const there = new Date(at.getTime() + zone * 60000);
    const shown = (there.getUTCDate() === at.getDate() ? clock : calendar).format(there);
    const beside = document.createElement("span");
    beside.className = "there";
    beside.textContent = `(${document.body.dataset.there.replace("{time}", shown)})`;
    time.append(" ", beside);
    time.classList.add("both");
  }
}

// A part of a view, made by the server, as an element; a refusal is an Error with its sentence.
async function part(address, options = {}) {
  const headers = { "X-Part": "1", Accept: "text/html", ...options.headers };
  const answer = await fetch(address, { credentials: "same-origin", ...options, headers });
  const found = new DOMParser().parseFromString(await answer.text(), "text/html");
  if (!answer.ok) throw new Error(found.querySelector(".problem")?.textContent ?? String(answer.status));
  if (answer.redirected) {
    location.assign(answer.url);
    throw new Error("");
  }
  return document.importNode(found.body.firstElementChild, true);
}

async function post(address, form, extra = {}) {
  const body = new URLSearchParams(new FormData(form));
  for (const [name, value] of Object.entries(extra)) body.set(name, value);
  const found = await part(address, { method: "POST", body, headers: { "X-CSRF-Token": csrf } });
  document.dispatchEvent(new CustomEvent("posted"));
  return found;
}

// For the scripts of single views, which are loaded after this one.
globalThis.engram = { part, post, say, showTimes };

// --- chat

const messages = document.getElementById("messages");

function partOf(article) {
  return part(`/boards/${messages.dataset.board}/chat/message?id=${encodeURIComponent(article.dataset.mid)}`);
}

// What a board still answers is shown as it comes; the server's own rendering takes its place in the end.
function follow(article) {
  const board = messages.dataset.board;
  const mid = encodeURIComponent(article.dataset.mid);
  const place = article.querySelector(".text");
  if (!place) return;
  let stream = null;
  let text = null;
  const begin = () => {
    if (!stream) {
      stream = document.createElement("p");
      stream.className = "stream";
      place.replaceChildren(stream);
    }
    return stream;
  };
  article.querySelector(".refresh")?.remove();
  const source = new EventSource(`/v1/boards/${board}/chat/${mid}`);
  const add = (piece) => {
    if (!text) {
      text = document.createTextNode("");
      begin().append(text);
    }
    text.appendData(piece);
  };
  const on = (name, act) => source.addEventListener(name, (event) => act(JSON.parse(event.data)));
  on("text", ({ text: piece }) => add(piece));
  on("line", ({ text: line }) => add(`${line}\n`));
  on("again", () => {
    if (text) text.data = "";
  });
  on("state", ({ told }) => {
    if (told) say(told);
  });
  on("end", async () => {
    source.close();
    say("");
    await finish(article);
  });
  source.addEventListener("open", () => {
    if (live.textContent === document.body.dataset.lost) say(document.body.dataset.back);
  });
  source.addEventListener("error", () => {
    say(document.body.dataset.lost);
    // A stream that the server refuses is not opened again by the browser itself.
    if (source.readyState === EventSource.CLOSED) setTimeout(() => finish(article), 5000);
  });
}

async function finish(article) {
  try {
    const whole = await partOf(article);
    put(article, whole);
  } catch (problem) {
    say(problem.message || document.body.dataset.lost);
    setTimeout(() => finish(article), 5000);
  }
}

function put(before, article) {
  const hadFocus = before.contains(document.activeElement);
  before.replaceWith(article);
  if (hadFocus) document.getElementById("text")?.focus();
  adopt(article);
}

// The board copies its memory, and learns from a message, after it has answered: what was remembered comes a little later.
const SETTLE_MS = 500;
const LONGEST_SETTLE_MS = 15000;

function settle(article, pause = SETTLE_MS) {
  if (!article.querySelector("[data-settling]")) return;
  setTimeout(async () => {
    if (!article.isConnected) return;
    try {
      if (!document.hidden) takeMemory(article, await partOf(article));
    } catch (problem) {
      // A connection that is lost is shown by the frame, and mends itself.
      if (!(problem instanceof TypeError)) return say(problem.message);
    }
    settle(article, Math.min(2 * pause, LONGEST_SETTLE_MS));
  }, pause);
}

// Only what has changed is replaced, so that a screen reader does not read the answer again. While the pointer is on a
// button nothing is, or another one could stand there when it is pressed.
function takeMemory(article, fresh) {
  if (messages.querySelector("button:hover")) return;
  for (const name of [".session", ".of-memory"]) {
    const before = article.querySelector(name);
    const now = fresh.querySelector(name);
    if (!before || !now || before.contains(document.activeElement)) continue;
    if (before.textContent === now.textContent) {
      before.toggleAttribute("data-settling", "settling" in now.dataset);
      continue;
    }
    const isOpen = before.querySelector("details[open]") !== null;
    now.querySelector("details")?.toggleAttribute("open", isOpen);
    before.replaceWith(now);
  }
}

function adopt(article) {
  showTimes(article);
  settle(article);
  const form = article.querySelector("form.cancel");
  form?.addEventListener("submit", async (event) => {
    event.preventDefault();
    try {
      const now = await post(form.action, form);
      if (!("open" in now.dataset)) put(article, now);
      else form.querySelector("button").disabled = true;
    } catch (problem) {
      say(problem.message);
    }
  });
  if ("open" in article.dataset) follow(article);
}

// The article in the list: the one that stands there already, since each follows its own answer, or else this one.
function add(article) {
  const former = document.getElementById(article.id);
  if (former) return former;
  document.getElementById("nothing")?.remove();
  messages.append(article);
  adopt(article);
  return article;
}

function sendsMessages(form) {
  const field = form.elements.text;
  field.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      form.requestSubmit();
    }
  });
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const button = form.querySelector("button");
    button.disabled = true;
    try {
      add(await post(form.action, form)).scrollIntoView({ block: "end" });
      field.value = "";
      // The same id again would be the same message: after a lost answer it has to be, after an answer it must not.
      const bytes = crypto.getRandomValues(new Uint8Array(8));
      form.elements.id.value = `page:${Array.from(bytes, (each) => each.toString(16).padStart(2, "0")).join("")}`;
      say("");
    } catch (problem) {
      say(problem.message || document.body.dataset.lost);
    } finally {
      button.disabled = false;
      field.focus();
    }
  });
}

// Commands that begin as the message does: reached by Tab, taken with Enter or a click.
function completes(form) {
  const field = form.elements.text;
  const list = document.getElementById("completions");
  const known = [...document.querySelectorAll("#known option")];
  const close = () => {
    list.hidden = true;
    list.replaceChildren();
  };
  field.addEventListener("input", () => {
    close();
    if (!/^\/\w*$/.test(field.value)) return;
    for (const option of known.filter((each) => each.value.startsWith(field.value)).slice(0, 8)) {
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = `${option.value} – ${option.textContent.trim()}`;
      button.addEventListener("click", () => {
        field.value = `${option.value} `;
        close();
        field.focus();
      });
      const item = document.createElement("li");
      item.append(button);
      list.append(item);
    }
    list.hidden = !list.children.length;
  });
  form.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || list.hidden) return;
    close();
    field.focus();
  });
  form.addEventListener("submit", close);
}

// What another tab has said stands in this one as well.
async function addMissing() {
  const answer = await fetch(location.href, { headers: { Accept: "text/html" }, cache: "no-store" });
  if (!answer.ok || answer.redirected) return;
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  for (const found of page.querySelectorAll("#messages > .exchange")) {
    add(document.importNode(found, true));
  }
}

showTimes(document);
document.addEventListener("shown", (event) => showTimes(event.target));
if (messages) {
  document.addEventListener("changed", (event) => {
    event.preventDefault();
    addMissing().catch((problem) => say(problem.message));
  });
  for (const article of messages.querySelectorAll(".exchange")) adopt(article);
  for (const form of document.querySelectorAll("#say, #command")) sendsMessages(form);
  completes(document.getElementById("say"));
}
