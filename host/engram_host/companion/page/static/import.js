// How far an import is, asked for again as long as it runs.

const { part, say } = globalThis.engram;
const PAUSE = 1000;
const LONG_PAUSE = 5000;

function follow(section) {
  followed = section;
  if ("open" in section.dataset) setTimeout(() => look(section), PAUSE);
}

async function look(section) {
  try {
    const now = await part(section.dataset.address);
    // A button that is being pressed stays: in its place another one would not take the click.
    if (now.innerHTML !== section.innerHTML && !section.querySelector(":active")) {
      const name = section.contains(document.activeElement) ? document.activeElement.value : "";
      section.replaceWith(now);
      if (name) now.querySelector(`button[value="${name}"]`)?.focus();
      say(now.querySelector(".told")?.textContent ?? "");
      follow(now);
    } else {
      follow(section);
    }
  } catch (problem) {
    say(problem.message || document.body.dataset.lost);
    setTimeout(() => look(section), LONG_PAUSE);
  }
}

let followed = null;

function followShown() {
  const progress = document.getElementById("progress");
  if (progress && progress !== followed) follow(progress);
}

// An import that runs is followed here; of any other the view may be taken again.
document.addEventListener("changed", (event) => {
  if (document.querySelector("#progress[data-open]")) event.preventDefault();
});
document.addEventListener("shown", followShown);
followShown();
