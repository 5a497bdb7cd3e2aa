// Passkeys: the one thing that a page without script cannot do. It asks our own server for a challenge, hands it to the
// browser's authenticator, and brings the answer back (Web Authentication Level 3).
const bytes = (text) => Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (c) => c.charCodeAt(0));
const text = (buffer) =>
  btoa(String.fromCharCode(...new Uint8Array(buffer))).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
const known = (list) => (list ?? []).map((c) => ({ ...c, id: bytes(c.id) }));

async function ask(path, token, body) {
  const answer = await fetch(path, {
    method: "POST",
    headers: { "Content-Type": "application/json", "X-CSRF-Token": token },
    body: JSON.stringify(body),
  });
  const said = await answer.json();
  if (!answer.ok) throw new Error(said.message);
  return said;
}

async function register(token) {
  const { options, handle } = await ask("/account/passkey/begin", token, {});
  const o = options.publicKey ?? options;
  const made = await navigator.credentials.create({
    publicKey: {
      ...o,
      challenge: bytes(o.challenge),
      user: { ...o.user, id: bytes(o.user.id) },
      excludeCredentials: known(o.excludeCredentials),
    },
  });
  const r = made.response;
  return ask("/account/passkey/finish", token, {
    handle,
    name: navigator.userAgentData?.platform ? `Passkey on ${navigator.userAgentData.platform}` : "Passkey",
    response: {
      id: made.id, rawId: text(made.rawId), type: made.type, authenticatorAttachment: made.authenticatorAttachment,
      clientExtensionResults: made.getClientExtensionResults(),
      response: {
        clientDataJSON: text(r.clientDataJSON), attestationObject: text(r.attestationObject),
        transports: r.getTransports?.() ?? [],
      },
    },
  });
}

// signIn proves who somebody is: at once, or as the answer to a challenge.
async function signIn(at, token, said) {
  const { options, handle } = await ask(at + "/begin", token, said);
  const o = options.publicKey ?? options;
  const given = await navigator.credentials.get({
    publicKey: { ...o, challenge: bytes(o.challenge), allowCredentials: known(o.allowCredentials) },
  });
  const r = given.response;
  return ask(at + "/finish", token, {
    ...said,
    handle,
    response: {
      id: given.id, rawId: text(given.rawId), type: given.type, authenticatorAttachment: given.authenticatorAttachment,
      clientExtensionResults: given.getClientExtensionResults(),
      response: {
        clientDataJSON: text(r.clientDataJSON), authenticatorData: text(r.authenticatorData), signature: text(r.signature),
        userHandle: r.userHandle ? text(r.userHandle) : undefined,
      },
    },
  });
}

// Browsers make passkeys for names and never for addresses of numbers, as a mesh on one's own machine has.
const nameless = /^\[|^[\d.]+$/.test(location.hostname);
for (const hint of document.querySelectorAll("[data-passkey-elsewhere]")) hint.hidden = !nameless;

for (const place of window.PublicKeyCredential && !nameless ? document.querySelectorAll("[data-passkey]") : []) {
  const button = place.querySelector("button");
  const error = place.querySelector("[role=alert]");
  place.hidden = false;
  button.addEventListener("click", async () => {
    error.hidden = true;
    button.disabled = true;
    try {
      const { token, passkey, challenge, continue: onward } = place.dataset;
      const { to } = await {
        register: () => register(token),
        "sign-in": () => signIn("/sign-in/passkey", token, { continue: onward }),
        answer: () => signIn("/sign-in/second-factor/passkey", token, { challenge, continue: onward }),
      }[passkey]();
      location.assign(to);
      return;
    } catch (e) {
      // Whoever closes the browser's dialogue has changed their mind: that is no error to be told of.
      if (e.name !== "NotAllowedError" && e.name !== "AbortError") {
        error.textContent = e.name === "InvalidStateError" ? "This device has a passkey here already." : e.message || "That did not work. Please try again.";
        error.hidden = false;
      }
    }
    button.disabled = false;
  });
}
