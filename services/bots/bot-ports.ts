// What the parts of the repository bot's process share.
import type { BotInstallation } from "../../ports/bot-records.ts";
import type { ServicePorts } from "../shared/service.ts";
import type { RunJob } from "./job.ts";

export interface HookDelivery {
  readonly id: number;
  readonly guid: string;
  readonly deliveredAt: string;
  /** 0 where there was no answer. */
  readonly statusCode: number;
}

/** What GitHub delivered, as the App may ask. */
export interface HookDeliveries {
  deliveries(
    cursor: string | undefined,
  ): Promise<{ readonly rows: readonly HookDelivery[]; readonly next: string | undefined }>;
  redeliver(id: number): Promise<void>;
}

/** Opened anew with each key. */
export interface AtGithub {
  readonly hook: HookDeliveries;
  readonly runJob: RunJob;
}

export interface BotPorts extends Pick<ServicePorts, "clock" | "timers" | "random" | "log" | "crash" | "store"> {
  /** This process as the leases name it; undefined once its lease has run out. */
  holder(): string | undefined;
  readonly caps: { readonly dailyNano: bigint; readonly perRepositoryNano: bigint };
  /** What the gateway hands over; rejects while it is away. */
  askForKey(): Promise<string | undefined>;
  open(installation: BotInstallation, privateKey: string): Promise<AtGithub>;
}
