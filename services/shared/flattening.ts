// Which funds a running flatten still closes. In those order management takes nothing but exits, so that no strategy buys back what is being sold.
import type { StoredFlatten } from "../../ports/flatten-records.ts";

export function closedFunds(flatten: StoredFlatten | undefined): readonly string[] {
  if (flatten === undefined || flatten.doneAt !== undefined) return [];
  return flatten.fundIds.filter((fundId) => !flatten.provedFundIds.includes(fundId));
}

export function whyFlattening({ flattenId }: StoredFlatten, fundId: string): string {
  return `The flatten ${flattenId} closes ${fundId}; until its broker calls it flat only exits are taken: ctl operations flatten show.`;
}
