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
  Secrets: "operations",
  Oms: "oms",
  Treasury: "treasury",
  Research: "research",
};
