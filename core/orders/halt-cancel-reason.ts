// Why an order was cancelled for a halt, in the words by which such orders are counted: whoever cancels and whoever counts take them from here.
export function haltCancelReason(haltId: string): string {
  return `The halt ${haltId} covers it.`;
}
