// The processes that speak on the bus under a name of their own: the five services and the gateway.

export const platformServices = ["riskengine", "operations", "oms", "treasury", "research", "gateway"] as const;

export type PlatformService = (typeof platformServices)[number];
