// What stands around each view: whether the connection and the session are alive, what another tab has changed, Escape.
// Views hear of it by events: `shown` at an element that has come into the page, `changed` at <main> before
// it is looked at again, which a view prevents that follows changes by itself, `posted` from whoever sent a form.

const STEADY_MS = 20000;
const AGAIN_MS = 2000;
const LATE_MS = 8000;
const SHOWN_MS = 5000;

const main = document.getElementById("main");
const live = document.getElementById("live");
const bar = document.getElementById("connection");
const others = new BroadcastChannel("engram");
let state = "";
let timer = 0;
let isLooking = false;

function show(now) {
  for (const each of bar.children) each.hidden = each.dataset.when !== now;
  const wasLost = state === "lost";
  state = now;
  if (!wasLost || now) return;
  live.textContent = document.body.dataset.back;
  setTimeout(() => {
    if (live.textContent === document.body.dataset.back) live.textContent = "";
  }, SHOWN_MS);
}

// Ask whether the companion is there and knows this browser: "" if so, else "lost" or "out".
async function ask() {
  try {
    const answer = await fetch("/session", { cache: "no-store", signal: AbortSignal.timeout(LATE_MS) });
    if (answer.status === 401) return "out";
    return answer.ok ? "" : "lost";
  } catch {
    return "lost";
  }
}

async function look() {
  if (isLooking) return;
  isLooking = true;
  clearTimeout(timer);
  const before = state;
  const now = await ask();
  if (now || state !== "changed") show(now);
  isLooking = false;
  if (!document.hidden) timer = setTimeout(look, now === "lost" ? AGAIN_MS : STEADY_MS);
  if (!now && before && before !== "changed") await refresh();
}

// --- changes that came from elsewhere

// What the server says of this view, without what differs each time: times, and what a form has hidden.
function wording(from) {
  const copy = from.cloneNode(true);
  for (const each of copy.querySelectorAll("time, input[type=hidden]")) each.remove();
  return copy.textContent;
}

let known = wording(main);
document.addEventListener("shown", () => {
  known = wording(main);
});

// Whether somebody is in the middle of something that another text in its place would destroy.
function isInUse() {
  const typed = [...main.querySelectorAll("input:not([type=hidden]), textarea")].some((each) =>
    each.type === "checkbox" || each.type === "radio"
      ? each.checked !== each.defaultChecked
      : each.type === "file"
        ? each.files.length > 0
        : each.value !== each.defaultValue,
  );
  return typed || (main !== document.activeElement && main.contains(document.activeElement)) || main.querySelector("details[open]");
}

// A view that answers a form, or says what went wrong, is at no address that could be asked for again.
async function refresh() {
  if (!("current" in main.dataset)) return;
  if (!main.dispatchEvent(new CustomEvent("changed", { bubbles: true, cancelable: true }))) return;
  let page;
  try {
    const answer = await fetch(location.href, { headers: { Accept: "text/html" }, cache: "no-store" });
    if (!answer.ok || answer.redirected) return;
    page = new DOMParser().parseFromString(await answer.text(), "text/html");
  } catch {
    return;
  }
  const fresh = page.getElementById("main");
  if (!fresh || wording(fresh) === known) return;
  if (isInUse()) {
    show("changed");
    return;
  }
  main.replaceChildren(...document.importNode(fresh, true).childNodes);
  main.dispatchEvent(new CustomEvent("shown", { bubbles: true }));
}

// A form that the browser sends itself is answered with a view: that one tells the other tabs.
const SENT = "engram:sent";
document.addEventListener("submit", (event) => {
  if (event.target.method !== "post" || event.defaultPrevented) return;
  if (state !== "lost") {
    sessionStorage.setItem(SENT, "1");
    return;
  }
  // What was typed would be lost with the connection.
  event.preventDefault();
  live.textContent = document.body.dataset.lost;
});
if (sessionStorage.getItem(SENT)) {
  sessionStorage.removeItem(SENT);
  others.postMessage("changed");
}
document.addEventListener("posted", () => others.postMessage("changed"));
others.addEventListener("message", lookAtAll);

// --- when to look

async function lookAtAll() {
  await look();
  if (!state) await refresh();
}

document.addEventListener("visibilitychange", () => {
  if (document.hidden) clearTimeout(timer);
  else lookAtAll();
});
addEventListener("focus", lookAtAll);
addEventListener("online", lookAtAll);
addEventListener("offline", look);
addEventListener("pageshow", (event) => {
  // The browser shows a view as it was left: it may be another by now.
  if (event.persisted) lookAtAll();
});
timer = setTimeout(look, STEADY_MS);

// --- the keyboard

// What is wider than its place scrolls, and the keyboard has to reach it then.
function letScroll() {
  for (const each of document.querySelectorAll(".scroll")) {
    if (each.scrollWidth > each.clientWidth) each.tabIndex = 0;
    else each.removeAttribute("tabindex");
  }
}

letScroll();
addEventListener("resize", letScroll);
document.addEventListener("shown", letScroll);

document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape" || event.defaultPrevented) return;
  const open = document.activeElement.closest("details[open]");
  if (open) {
    open.open = false;
    open.querySelector("summary").focus();
  } else if (state === "changed") show("");
});
