// The processes that speak on the bus under a name of their own: the five services and the gateway.

export const platformServices = ["riskengine", "operations", "oms", "treasury", "research", "gateway"] as const;

export type PlatformService = (typeof platformServices)[number];

/** Those that prove themselves with a token of the platform's own: beside them what makes reports, which reads and speaks on no bus. */
export const ownProcesses = [...platformServices, "reports"] as const;

export type OwnProcess = (typeof ownProcesses)[number];

/** Those of whom log lines are kept: beside the services, what starts them and what they stand on. */
export const loggedServices = [...platformServices, "supervisor", "postgres"] as const;

export type LoggedService = (typeof loggedServices)[number];
