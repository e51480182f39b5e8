// The processes that speak on the bus under a name of their own: the five services and the gateway.

export const platformServices = ["riskengine", "operations", "oms", "treasury", "research", "gateway"] as const;

export type PlatformService = (typeof platformServices)[number];

/** Those with a login of their own at the database, under whose name they publish: beside the services what acts at GitHub, once it is installed. */
export const storeProcesses = [...platformServices, "bots"] as const;

export type StoreProcess = (typeof storeProcesses)[number];

/** Whether this is how a process of ours names itself as the source of its events: by its service, or by all of them with a plus. */
export function isOwnSource(source: string): boolean {
  return source.split("+").every((name) => (storeProcesses as readonly string[]).includes(name));
}

/** Of a machine's name in records (`service:desk`) the name of its token, which is the source of what it publishes. */
export function sourceOfActor(actor: string): string {
  return machineOfActor(actor) ?? actor;
}

/** The name of the token, where it was a machine. */
export function machineOfActor(actor: string): string | undefined {
  return actor.startsWith(machinePrefix) ? actor.slice(machinePrefix.length) : undefined;
}

const machinePrefix = "service:";

/** Those that prove themselves with a token of the platform's own: beside them what makes reports, which reads and speaks on no bus, and the bots. */
export const ownProcesses = [...storeProcesses, "reports"] as const;

export type OwnProcess = (typeof ownProcesses)[number];

/** Those of whom log lines are kept: beside the services and the bots, what starts them and what they stand on. */
export const loggedServices = [...storeProcesses, "supervisor", "postgres"] as const;

export type LoggedService = (typeof loggedServices)[number];
