// Memories: what a view shows of changes follows the board. Every view reads, and each form works, without it.

const PAUSE_MS = 1500;
const MOST_LOOKS = 20;

// The parts of a view that may change are taken from the same address again; a form that somebody fills in stays as it is.
async function refresh() {
  const answer = await fetch(location.href, { credentials: "same-origin", headers: { Accept: "text/html" } });
  if (!answer.ok || answer.redirected) return location.assign(location.pathname.replace(/\/m\d+$/, ""));
  const found = new DOMParser().parseFromString(await answer.text(), "text/html");
  for (const part of document.querySelectorAll("[data-live]")) {
    const now = found.getElementById(part.id);
    if (now && !part.contains(document.activeElement) && !isFilledIn(part)) {
      const copy = document.importNode(now, true);
      part.replaceWith(copy);
      copy.dispatchEvent(new CustomEvent("shown", { bubbles: true }));
    }
  }
  // What tells of a conflict, and the forms that follow from it, come together.
  if (found.getElementById("conflict-part") && !document.getElementById("conflict-part")) location.reload();
}

// A form with a changed field is somebody's work: it keeps the version that it was made from, too.
function isFilledIn(part) {
  return [...part.querySelectorAll("input:not([type=hidden]), textarea, select")].some((field) =>
    field.matches("select")
      ? [...field.options].some((option) => option.selected !== option.defaultSelected)
      : field.value !== field.defaultValue || field.checked !== field.defaultChecked,
  );
}

let looks = 0;
let timer = 0;

function isUnsettled() {
  return document.querySelector("[data-live] [data-state=waiting], [data-live][data-behind]") !== null;
}

function look() {
  clearTimeout(timer);
  if (!isUnsettled()) return;
  // A board that is away may be so for days: then the view is looked at seldom.
  const pause = looks < MOST_LOOKS ? PAUSE_MS : 10 * PAUSE_MS;
  timer = setTimeout(async () => {
    looks += 1;
    try {
      if (!document.hidden) await refresh();
    } catch (problem) {
      document.getElementById("live").textContent = document.body.dataset.lost;
    }
    look();
  }, pause);
}

document.addEventListener("shown", look);
look();
