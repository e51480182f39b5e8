// What the generators of declarations share: comments as they stand above a declaration, and the error that says what one leaves open.

/** A declaration that leaves something open or contradicts another one. */
export class DeclarationError extends Error {}

/** The comment above a declaration, as one line; empty when there is none. */
export function commentOf(file, path) {
  const wanted = path.join(".");
  const found = file.proto.sourceCodeInfo?.location.find((one) => one.path.join(".") === wanted);
  return (found?.leadingComments ?? "").replace(/\s+/g, " ").trim();
}

/** A full stop inside a path or a number ends no sentence. */
export function firstSentence(comment) {
  return comment.split(/(?<=[.])\s+(?=[A-Z`])/)[0] ?? "";
}

/** Where they stand in the source info of their file. */
export function pathOfMethod(file, service, method) {
  return [6, file.services.indexOf(service), 2, service.methods.indexOf(method)];
}

export function pathOfMessage(file, message) {
  return [4, file.messages.indexOf(message)];
}

export function pathOfField(file, message, field) {
  return [...pathOfMessage(file, message), 2, message.fields.indexOf(field)];
}
