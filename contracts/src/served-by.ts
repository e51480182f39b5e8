// Which process answers for a service of the protos.

export const servedBy: Readonly<Record<string, string>> = {
  RiskEngine: "riskengine",
  RiskDesk: "operations",
  Operations: "operations",
  AuditDesk: "operations",
  RiskWorkers: "operations",
  HaltDesk: "operations",
  Watchdogs: "operations",
  MarketDesk: "operations",
  Replay: "operations",
  FilingChecks: "operations",
  Filings: "operations",
  Secrets: "operations",
  Oms: "oms",
  Treasury: "treasury",
  Research: "research",
};

/** What operations answers as well, for platforms without treasury. */
export const servedWithoutTreasury = [
  "ListFunds",
  "ListNavs",
  "ListInstruments",
  "GetReferenceData",
  "SetReferenceData",
  "CosignReferenceData",
] as const;
export type ServedWithoutTreasury = (typeof servedWithoutTreasury)[number];

/** Which process is asked, of those that are known to run. The one that should be, where nobody answers. */
export function answering(service: string, method: string, isKnown: (process: string) => boolean): string | undefined {
  const process = servedBy[service];
  const isLeftOut = process === "treasury" && !isKnown(process);
  return isLeftOut && servedWithoutTreasury.some((served) => served === method) ? "operations" : process;
}
