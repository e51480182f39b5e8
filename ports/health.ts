// Health, reported truthfully: a part is ok only while it can do its work, and says in one sentence why when it cannot.
export interface Health {
  readonly status: "ok" | "starting" | "failing";
  readonly complaint?: string;
}

/** How the gateway asks every service at once; a service that does not answer in time is failing. */
export interface HealthDirectory {
  all(): Promise<Readonly<Record<string, Health>>>;
}
