// What every transport says of an event at which a subscription that carries money has stopped, in one lane or altogether.
export function heldSentence(
  subscription: string,
  lane: string | undefined,
  event: { readonly id: string; readonly subject: string },
  error: string,
): string {
  const where = lane === undefined ? "" : ` in ${lane}`;
  return `${subscription} stops${where} at event ${event.id} (${event.subject}) and tries it until it is handled: ${error}`;
}
