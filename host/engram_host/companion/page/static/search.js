// Search as typed: what is found is asked for after each pause, and an answer that a later one has overtaken is dropped.

const { part, say, showTimes } = globalThis.engram;
const PAUSE = 250;
const form = document.getElementById("search");
const count = document.getElementById("count");
let timer = 0;
let asking = null;
let shown = address();

function address() {
  const query = new URLSearchParams(new FormData(form));
  for (const [name, value] of [...query]) if (!value) query.delete(name);
  const text = query.toString();
  return text ? `${form.action}?${text}` : form.action;
}

async function search() {
  const wanted = address();
  if (wanted === shown) return;
  asking?.abort();
  const mine = (asking = new AbortController());
  try {
    const found = await part(wanted, { signal: mine.signal });
    if (mine !== asking) return;
    shown = wanted;
    document.getElementById("results").replaceWith(found);
    showTimes(found);
    count.textContent = found.dataset.summary;
    history.replaceState(null, "", wanted);
    say("");
  } catch (problem) {
    if (mine === asking && problem.name !== "AbortError") say(problem.message || document.body.dataset.lost);
  }
}

// What is found stays as it is until somebody searches again.
document.addEventListener("changed", (event) => event.preventDefault());
form.addEventListener("input", () => {
  clearTimeout(timer);
  timer = setTimeout(search, PAUSE);
});
