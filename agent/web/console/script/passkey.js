// Forms that log in with a passkey or make one. They stay hidden in browsers without the functions for it, and on pages
// without TLS other than of this machine.

const supported = window.PublicKeyCredential?.parseRequestOptionsFromJSON && PublicKeyCredential.parseCreationOptionsFromJSON;

// post sends a body and returns the decoded response. It throws an error with the reason for a person to read.
async function post(path, body) {
  const answer = await fetch(path, { method: "POST", body, redirect: "error" });
  const content = await answer.json().catch(() => ({}));
  if (!answer.ok) throw new Error(content.problem ?? content.detail ?? t("The server did not respond. Retry."));
  return content;
}

// credential lets the browser use or make a passkey with the options of the server.
function credential(kind, options) {
  return kind === "create"
    ? navigator.credentials.create({ publicKey: PublicKeyCredential.parseCreationOptionsFromJSON(options) })
    : navigator.credentials.get({ publicKey: PublicKeyCredential.parseRequestOptionsFromJSON(options) });
}

const refusals = {
  NotAllowedError: t("No passkey was chosen."),
  InvalidStateError: t("This device has a passkey for you already."),
};

async function submit(event) {
  event.preventDefault();
  const form = event.currentTarget;
  const button = form.querySelector("button");
  const alert = form.querySelector("[role=alert]");
  const { passkey: kind, begin, finish } = form.dataset;
  button.disabled = true;
  alert.hidden = true;
  try {
    const options = await post(begin, new URLSearchParams(new FormData(form)));
    const made = await credential(kind, options);
    location.assign((await post(finish, JSON.stringify(made.toJSON()))).next);
  } catch (fault) {
    alert.textContent = refusals[fault.name] ?? fault.message;
    alert.hidden = false;
    button.disabled = false;
  }
}

if (supported) {
  for (const form of document.querySelectorAll("form[data-passkey]")) {
    form.addEventListener("submit", submit);
    form.hidden = false;
  }
}
