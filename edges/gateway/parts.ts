// What the gateway's routes are handed. They hold no connection themselves: whoever composes the gateway brings these.
import type { Instant } from "../../contracts/src/instant.ts";
import type { Clock } from "../../ports/clock.ts";
import type { EventFeed } from "../../ports/event-feed.ts";
import type { Githubbot } from "../../ports/githubbot.ts";
import type { Health, HealthDirectory } from "../../ports/health.ts";
import type { IdempotencyAsked } from "../../ports/http.ts";
import type { Identity, Outcome, SecondFactors, ServiceTokens, Sessions, SigningKeys } from "../../ports/identity.ts";
import type { KeptLogs } from "../../ports/kept-logs.ts";
import type { Log } from "../../ports/log.ts";
import type { IdentityRequests, OperatorsAdmin } from "../../ports/operators.ts";
import type { Random } from "../../ports/random.ts";
import type { Instance } from "../../ports/store.ts";
import type { Timers } from "../../ports/timers.ts";
import type { WebhookChecks, WebhookSecrets } from "../../ports/webhook.ts";
import type { MarketFeed } from "./public/market-sources.ts";
import type { ReportQueue } from "./reports/report-queue.ts";
import type { ReportScheduler } from "./reports/report-scheduler.ts";

/** How a caller logs in here. Addresses are asked for when they are needed: a port of 0 is known only after listening. */
export interface LoginFacts {
  /** The issuer of people's tokens, embedded or external. */
  issuer(): string;
  /** This API's own address, without a slash at the end. */
  resource(): string;
  readonly clientId: string;
  /** As which the web desks log in. */
  readonly webClientId: string;
  readonly audience: string;
  /** Separated by single spaces. */
  readonly scopes: string;
  readonly developmentLogin: boolean;
}

/** The services' own procedures, asked on a caller's behalf: what they denied is an answer, what failed is thrown as a Fault. */
export interface ServiceCalls {
  call(
    service: string,
    method: string,
    request: object,
    options: {
      /** The caller's own token: the service decides by it, not by ours. */
      readonly bearer: string | undefined;
      readonly timeoutMs: number;
      readonly requestId?: string;
      readonly signal?: AbortSignal;
      /** The caller's proof of a second factor; it travels beside the message. */
      readonly stepUpProof?: string;
      /** The caller's idempotency key, for a procedure that changes something. */
      readonly idempotency?: IdempotencyAsked | undefined;
    },
  ): Promise<Outcome<unknown>>;
}

/** How often a minute one address may try routes that guessers of one-time codes would try. */
export const attemptsPerMinuteMax = 30;

/** Starting the platform's services anew, which only whoever runs the processes can do. */
export interface Restarts {
  /** Resolves when each is ready again; `tell` hears of the record as soon as it is written, before anything is restarted. */
  restart(
    requestedBy: string,
    reason: string,
    tell: (auditId: string) => void,
  ): Promise<{
    readonly auditId: string;
    readonly parts: readonly { readonly name: string; readonly pid: number; readonly tookMs: number }[];
  }>;
}

/** What the charting webhook is handed beside the services. */
export interface WebhookParts {
  readonly checks: WebhookChecks;
  readonly secrets: WebhookSecrets;
  /** As configured. */
  readonly sourceAddresses: readonly string[];
  readonly trustedProxies: readonly string[];
  readonly host: string;
  /** An alert came on behalf of a listed address through this one, which is not trusted. */
  noteProxy(address: string, at: Instant): void;
  /** The newest of those. */
  untrustedProxy(): { readonly address: string; readonly at: Instant } | undefined;
}

export interface GatewayParts {
  readonly log: Log;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly random: Random;
  /** The services that make up this platform; each must be ok before the platform is. */
  readonly expectedServices: readonly string[];
  readonly directory: HealthDirectory;
  /** The processes that hold a lease, as the store has them. */
  instances(): Promise<readonly Instance[]>;
  readonly keptLogs: KeptLogs;
  /** Where a service answers that runs under another supervisor; undefined for one of ours. */
  elsewhere(service: string): string | undefined;
  /** The gateway's own preconditions, for example that the credentials file is written. */
  ownHealth(): Health;
  /** Whether the platform is allowed to listen beyond this machine without TLS: every answer about health says so. */
  readonly isInsecure: boolean;
  /** The keys that allow clear text to other machines, of connections that use it. */
  readonly clearText: readonly string[];
  /** Every service's metrics as the registry's JSON; undefined for a service that did not answer. */
  collectMetrics(): Promise<Readonly<Record<string, string | undefined>>>;
  /** The gateway's own, in the same form. */
  ownMetrics(): Promise<string>;
  readonly services: ServiceCalls;
  /** What happened on the platform, from the store. */
  readonly events: EventFeed;
  /** Who a token is, asked again: rejects with UNAUTHENTICATED or IDENTITY_UNAVAILABLE. For what lasts longer than a request. */
  verify(token: string): Promise<Identity>;
  /** What the services said last of what strangers may read. */
  readonly marketFeed: MarketFeed;
  /** The gateway's own token, for what it asks on behalf of nobody in particular. */
  ownToken(): string;
  readonly login: LoginFacts;
  readonly secondFactors: SecondFactors;
  readonly serviceTokens: ServiceTokens;
  readonly operators: OperatorsAdmin;
  readonly identityRequests: IdentityRequests;
  readonly sessions: Sessions;
  /** Undefined with an external issuer, whose keys are not ours to rotate. */
  readonly signingKeys: SigningKeys | undefined;
  readonly restarts: Restarts;
  readonly webhook: WebhookParts;
  readonly githubbot: Githubbot;
  readonly reports: ReportQueue;
  readonly reportSchedules: Pick<ReportScheduler, "schedules" | "runs" | "runNow">;
  /** Where the public listener is reached, without a slash at the end. */
  publicUrl(): string;
  /** Both listeners' routes as an OpenAPI document. */
  openApi(): Promise<object>;
  /** The public listener's alone. */
  publicOpenApi(): Promise<object>;
  /** The streams and the events. */
  asyncApi(): Promise<object>;
  /** Does what takes long so that others have their turn wherever it yields. */
  inSlices<Made>(work: Generator<void, Made>): Promise<Made>;
}
