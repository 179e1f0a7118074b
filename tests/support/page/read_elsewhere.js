// Tries to read and to change a companion from a page of another site; returns the outcome of each attempt.
async (url) => {
  const found = {};
  const attempt = async (name, act) => {
    try { found[name] = await act(); } catch (problem) { found[name] = "refused"; }
  };
  const cors = { credentials: "include", mode: "cors" };
  const asked = (path, options) => fetch(url + path, { ...cors, ...options }).then((answer) => answer.text());
  await attempt("a view", () => asked("/"));
  await attempt("the API", () => asked("/v1/devices"));
  const json = { method: "POST", headers: { "Content-Type": "application/json" }, body: '{"text":"hi"}' };
  await attempt("a change", () => asked("/v1/boards/kitchen/chat", json));
  await attempt("a header", () => asked("/", { headers: { "X-Part": "1" } }));
  await attempt("an event stream", () => new Promise((good, bad) => {
    const source = new EventSource(url + "/v1/boards/kitchen/chat/page:tea", { withCredentials: true });
    source.onmessage = source.onopen = () => good("read");
    source.onerror = () => { source.close(); bad(new Error("refused")); };
  }));
  await attempt("a script", () => new Promise((good, bad) => {
    const script = document.createElement("script");
    script.src = url + "/v1/devices";
    script.onload = () => good("loaded");
    script.onerror = () => bad(new Error("refused"));
    document.head.append(script);
  }));
  await attempt("a window", () => {
    const opened = window.open(url + "/");
    return opened.document.title;
  });
  return found;
}
