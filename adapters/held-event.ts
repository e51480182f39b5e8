// What every transport says of an event at which a subscription that carries money has stopped.
export function heldSentence(
  subscription: string,
  event: { readonly id: string; readonly subject: string },
  error: string,
): string {
  return `${subscription} stops at event ${event.id} (${event.subject}) and tries it until it is handled: ${error}`;
}
