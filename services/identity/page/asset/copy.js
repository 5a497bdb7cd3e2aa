// Buttons that copy a text. Without this script they stay hidden, and the text is there to be marked.
for (const button of document.querySelectorAll("[data-copy]")) {
  if (!navigator.clipboard) break;
  const source = document.getElementById(button.dataset.copy);
  const label = button.textContent;
  button.hidden = false;
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(source.value ?? [...source.children].map((c) => c.textContent).join("\n"));
    button.textContent = "Copied";
    setTimeout(() => (button.textContent = label), 2000);
  });
}
