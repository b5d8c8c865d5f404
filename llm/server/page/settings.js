// The settings of a conversation, and the request that they and its messages make.

const numbers = [
  "max_completion_tokens", "temperature", "top_k", "top_p", "min_p", "repeat_penalty", "seed",
];

// The settings that a form shows: only those that are given.
export function settingsFrom(form) {
  const settings = {};
  for (const name of numbers) {
    const value = form.elements[name].value.trim();
    if (value !== "") settings[name] = Number(value);
  }
  if (form.elements.system.value.trim() !== "") settings.system = form.elements.system.value;
  if (form.elements.thinking.value !== "") settings.thinking = form.elements.thinking.value;
  return settings;
}

export function showSettings(form, settings) {
  for (const name of [...numbers, "system", "thinking"]) form.elements[name].value = settings[name] ?? "";
}

// The messages as the server takes them: thoughts of earlier answers stay behind, answers without text too.
export function messagesFor(settings, messages) {
  const said = messages.filter((message) => message.role === "user" || message.content !== "")
    .map(({ role, content }) => ({ role, content }));
  return settings.system ? [{ role: "system", content: settings.system }, ...said] : said;
}

export function requestFor(settings, messages) {
  const request = { messages: messagesFor(settings, messages) };
  for (const name of numbers) if (settings[name] !== undefined) request[name] = settings[name];
  if (settings.thinking) request.chat_template_kwargs = { enable_thinking: settings.thinking === "on" };
  return request;
}
